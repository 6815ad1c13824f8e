/* `cutune doctor`: what is present, what is missing, and how to fix it. */
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "device/device.h"
#include "op/load.h"

struct findings {
    bool json;
    json_t *array; /* of JSON; text is printed at once */
};

/* One thing looked at, how it is, and what was seen: several lines, or else all of it is one. Frees what it says. */
static void add(struct findings *f, const char *what, const char *state, bool lines, struct buf *says)
{
    const char *text = buf_text(says);
    if (f->json)
        f->array = json_append(f->array, json_pack("{s:s, s:s, s:o}", "what", what, "state", state, "says", json_text(text)));
    for (const char *mark = state; !f->json && *text; mark = "") {
        size_t n = lines ? strcspn(text, "\n") : strlen(text);
        enum style s = !strcmp(state, "good") ? GOOD : !strcmp(state, "none") ? PLAIN : BAD;
        printf("%s%-7s%s  ", style(STDOUT_FILENO, s), mark, style(STDOUT_FILENO, PLAIN));
        text_line("%.*s", (int)n, text);
        text += n + (text[n] == '\n');
    }
    buf_free(says);
}

static bool look_at_home(struct findings *f)
{
    struct buf says = { 0 };
    struct err err = { 0 };
    const char *home;
    bool good = !home_find(&home, &err);
    buf_fmt(&says, "files: %s\n", good ? home : err.msg);
    add(f, "files", good ? "good" : "missing", false, &says);
    return good;
}

static void look_at_database(struct findings *f, struct request *r)
{
    struct buf says = { 0 };
    struct err err = { 0 };
    int rc = request_database(r, STORE_READ, &err);
    buf_fmt(&says, "database: %s\n", rc ? err.msg : store_path(r->store));
    add(f, "database", !rc ? "good" : rc == ERR_NOTFOUND ? "none" : "bad", false, &says);
}

/* Whether a device of this backend can be tuned: there is one, and its compiler opens. */
static bool look_at_backend(struct findings *f, const struct backend *b)
{
    static struct devspec all[MAX_DEVICES];
    struct buf says = { 0 };
    struct err err = { 0 };
    struct compiler *compiler = NULL;
    int n = b->list(all, MAX_DEVICES, &err);
    for (int i = 0; i < n && i < MAX_DEVICES; i++)
        buf_fmt(&says, "%s: %s:%d is %s (%s, %s)\n", b->name, b->name, all[i].index, all[i].name, all[i].arch, all[i].driver);
    if (n <= 0)
        buf_fmt(&says, "%s: %s\n", b->name, err.msg);
    if (b->compiling->doctor)
        b->compiling->doctor(&says);
    bool good = n > 0 && !b->compiling->open(&all[0], &compiler, &err);
    if (good)
        b->compiling->close(compiler);
    else if (n > 0)
        buf_fmt(&says, "%s: %s\n", b->name, err.msg);
    add(f, b->name, good ? "good" : "missing", true, &says);
    return good;
}

static int examine(struct request *r, struct err *err)
{
    const struct backend *b;
    struct buf wanted = { 0 };
    struct findings f = { .json = r->args.json, .array = r->args.json ? json_array() : NULL };
    bool files = look_at_home(&f), tunable = false;
    look_at_database(&f, r);
    for (int i = 0; (b = backend_real(i)); i++) {
        tunable |= look_at_backend(&f, b);
        buf_fmt(&wanted, "%s%s", i ? ", or " : "", b->compiling->wanted);
    }
    int rc = f.json ? json_print(json_pack("{s:b, s:o}", "can_tune", tunable && files, "findings", f.array), err) : 0;
    if (!rc && !tunable)
        rc = err_set(err, ERR_UNSUPPORTED, "no device can be tuned: %s, is wanted", buf_text(&wanted));
    buf_free(&wanted);
    return rc || files ? rc : FAILED;
}

const struct command doctor_command = {
    .name = "doctor",
    .summary = "what is present, what is missing, and how to fix it",
    .options = OPTIONS({ OPT_DB }, { OPT_JSON }),
    .doc = "Says what cutune finds on this machine, what is missing, and how to fix it. "
           "The exit status is 0 if cutune's own files are found and at least one device can be tuned."
           "\vExamples:\n"
           "  cutune doctor\n"
           "  cutune doctor --json",
    .run = examine,
};
