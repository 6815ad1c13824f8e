/* `cutune doctor`: what is present, what is missing, and what would mend it. */
#include <stdio.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/targets.h"
#include "cli/text.h"
#include "device/device.h"
#include "op/load.h"

/* One thing looked at, how it is, and the lines that say what was seen. */
struct diagnosis {
    const char *what;
    enum state { MISSING, GOOD, NONE_YET, BAD } state;
    struct buf says;
    bool lines; /* several of them; else all of it is one */
};
static const char *const states[] = { "missing", "good", "none", "bad" };

/* Whether a device of this backend can be tuned: there is one, and its compiler opens. */
static struct diagnosis look_at_backend(const struct backend *b)
{
    static struct devspec first;
    struct diagnosis f = { .what = b->name, .lines = true };
    struct err err = { 0 };
    struct compiler *compiler = NULL;
    int n = b->list(&first, 1, &err);
    b->doctor(&f.says);
    if (n <= 0)
        return f;
    if (!b->compiling->open(&first, &compiler, &err)) {
        f.state = GOOD;
        b->compiling->close(compiler);
    } else {
        buf_fmt(&f.says, "%s: %s\n", b->name, err.msg);
    }
    return f;
}

static struct diagnosis look_at_home(void)
{
    struct diagnosis f = { .what = "files" };
    struct err err = { 0 };
    const char *home;
    f.state = home_find(&home, &err) ? MISSING : GOOD;
    buf_fmt(&f.says, "files: %s\n", f.state == GOOD ? home : err.msg);
    return f;
}

static struct diagnosis look_at_database(const struct args *args)
{
    struct diagnosis f = { .what = "database" };
    struct err err = { 0 };
    struct store *store = NULL;
    int rc = database_open(args, STORE_READ, &store, &err);
    f.state = !rc ? GOOD : rc == ERR_NOTFOUND ? NONE_YET : BAD;
    buf_fmt(&f.says, "database: %s\n", store ? store_path(store) : err.msg);
    store_close(store);
    return f;
}

static void print_finding(const struct diagnosis *f)
{
    const char *mark = states[f->state];
    for (const char *line = buf_text(&f->says); *line; mark = "") {
        size_t n = f->lines ? strcspn(line, "\n") : strlen(line);
        text_line("%-7s  %.*s", mark, (int)n, line);
        line += n + (line[n] == '\n');
    }
}

static json_t *finding_json(const struct diagnosis *f)
{
    json_t *o = json_with(json_object(), "what", json_text(f->what));
    o = json_with(o, "state", json_text(states[f->state]));
    return json_with(o, "says", json_text(buf_text(&f->says)));
}

static int print_findings(struct diagnosis *found, int n, bool can_tune, bool json, struct err *err)
{
    json_t *array = json_array();
    for (int i = 0; i < n; i++) {
        if (json)
            array = json_append(array, finding_json(&found[i]));
        else
            print_finding(&found[i]);
        buf_free(&found[i].says);
    }
    if (json)
        return json_print(json_with(json_with(json_object(), "can_tune", json_boolean(can_tune)), "findings", array), err);
    json_decref(array);
    return 0;
}

static int none_tunable(struct err *err)
{
    const struct backend *b;
    struct buf wanted = { 0 };
    for (int i = 0; (b = backend_real(i)); i++)
        buf_fmt(&wanted, "%s%s", wanted.len ? ", or " : "", b->compiling->wanted);
    int rc = err_set(err, ERR_UNSUPPORTED, "no device can be tuned: %s, is wanted", buf_text(&wanted));
    buf_free(&wanted);
    return rc;
}

static int examine(const struct args *args, struct err *err)
{
    enum { MAX_FINDINGS = 16 };
    struct diagnosis found[MAX_FINDINGS] = { look_at_home(), look_at_database(args) };
    bool files = found[0].state == GOOD, tunable = false;
    int n = 2;
    for (int i = 0; backend_real(i) && n < MAX_FINDINGS; i++) {
        found[n] = look_at_backend(backend_real(i));
        tunable |= found[n++].state == GOOD;
    }
    int rc = print_findings(found, n, tunable && files, args->json, err);
    if (!rc && !tunable)
        rc = none_tunable(err);
    return rc || files ? rc : FAILED;
}

static const struct argp_option options[] = { { OPT_DB }, { OPT_JSON }, { OPT_HELP }, { 0 } };

const struct command doctor_command = {
    .name = "doctor",
    .summary = "what is present, what is missing, and what would mend it",
    .options = options,
    .doc = "Says what cutune finds on this machine, what is missing, and what would mend it.\n"
           "The exit status is 0 if cutune's own files are found and at least one device can be tuned."
           "\vExamples:\n"
           "  cutune doctor\n"
           "  cutune doctor --json",
    .run = examine,
};
