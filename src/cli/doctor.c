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

static const struct argp_option options[] = { OPT_DB, OPT_JSON, OPT_END };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    return args_key(key, arg, state->input, state);
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Says what cutune finds on this machine, what is missing, and what would mend it.\n"
           "The exit status is 0 where at least one device can be tuned."
           "\vExamples:\n"
           "  cutune doctor\n"
           "  cutune doctor --json",
};

/* One thing looked at, how it is, and the lines that say what was seen. */
struct finding {
    const char *what;
    enum state { MISSING, GOOD, NONE_YET, BAD } state;
    struct buf says;
    bool lines; /* several of them; else all of it is one */
};
static const char *const states[] = { "missing", "good", "none", "bad" };

/* Whether a device of this backend can be tuned: there is one, and its compiler opens. */
static struct finding look_at_backend(const struct backend *b)
{
    static struct devspec first;
    struct finding f = { .what = b->name, .lines = true };
    struct err err = { 0 };
    struct compiler *compiler = NULL;
    int n = b->list(&first, 1, &err);
    if (b->doctor)
        b->doctor(&f.says);
    else
        buf_fmt(&f.says, "%s: %s\n", b->name, n > 0 ? first.name : err.msg);
    if (n <= 0)
        return f;
    if (b->compiling->open(&first, &compiler, &err) == 0) {
        f.state = GOOD;
        b->compiling->close(compiler);
    } else {
        buf_fmt(&f.says, "%s: %s\n", b->name, err.msg);
    }
    return f;
}

static struct finding look_at_home(void)
{
    struct finding f = { .what = "files" };
    struct err err = { 0 };
    const char *home;
    f.state = home_find(&home, &err) == 0 ? GOOD : MISSING;
    buf_fmt(&f.says, "files: %s\n", f.state == GOOD ? home : err.msg);
    return f;
}

static struct finding look_at_database(const struct args *args)
{
    struct finding f = { .what = "database" };
    struct err err = { 0 };
    struct store *store = NULL;
    int rc = database_open(args, STORE_READ, &store, &err);
    f.state = rc == 0 ? GOOD : rc == ERR_NOTFOUND ? NONE_YET : BAD;
    buf_fmt(&f.says, "database: %s\n", store ? store_path(store) : err.msg);
    store_close(store);
    return f;
}

static void print_finding(const struct finding *f)
{
    const char *mark = states[f->state];
    for (const char *line = buf_text(&f->says); *line; mark = "") {
        size_t n = f->lines ? strcspn(line, "\n") : strlen(line);
        text_line("%-7s  %.*s", mark, (int)n, line);
        line += n + (line[n] == '\n');
    }
}

static json_t *finding_json(const struct finding *f)
{
    json_t *o = json_with(json_object(), "what", json_text(f->what));
    o = json_with(o, "state", json_text(states[f->state]));
    return json_with(o, "says", json_text(buf_text(&f->says)));
}

static int complain_none(void)
{
    const struct backend *b;
    struct buf wanted = { 0 };
    for (int i = 0; (b = backend_real(i)); i++)
        buf_fmt(&wanted, "%s%s", wanted.len ? ", or " : "", b->compiling->wanted);
    int code = complain(FAILED, "no device can be tuned: %s, is wanted", buf_text(&wanted));
    buf_free(&wanted);
    return code;
}

int cmd_doctor(int argc, char **argv)
{
    enum { MAX_FINDINGS = 16 };
    struct finding found[MAX_FINDINGS];
    struct args args = { 0 };
    int n = 0, tunable = 0, code = DONE;
    argp_parse(&argp, argc, argv, 0, NULL, &args);
    found[n++] = look_at_home();
    found[n++] = look_at_database(&args);
    bool files = found[0].state == GOOD;
    for (int i = 0; backend_real(i) && n < MAX_FINDINGS; i++) {
        found[n] = look_at_backend(backend_real(i));
        tunable += found[n++].state == GOOD;
    }
    json_t *array = json_array();
    for (int i = 0; i < n; i++) {
        if (args.json)
            array = json_append(array, finding_json(&found[i]));
        else
            print_finding(&found[i]);
        buf_free(&found[i].says);
    }
    if (args.json)
        code = json_print(json_with(json_with(json_object(), "can_tune", json_boolean(tunable && files)), "findings", array));
    else
        json_decref(array);
    if (!tunable)
        return complain_none();
    return files ? code : FAILED;
}
