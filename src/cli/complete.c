/* `cutune complete LINE`: what could stand at the end of a command line, a line for each word, with what it is after a tab. The scripts in
 * completions/ ask for it and know nothing themselves. The last line may say that names of files would do, too: ":files .lua", those
 * that end so; ":files"; ":folders".
 *
 * It answers whatever it is asked, and complains of nothing, for it is asked in the middle of a prompt. Words are only offered if a shell
 * takes them as they are, since names in a database may be strangers'. */
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "child/child.h"
#include "cli/cli.h"
#include "device/backend.h"
#include "op/load.h"

enum { MAX_OFFERS = 1000, DEVICES_S = 3, DATABASE_S = 1 };

struct completion {
    struct request r;  /* of the words before the last one */
    const char *begun; /* what the last word has so far, of the part that is completed; */
    struct buf before; /* the part in front of that */
    char *offers[MAX_OFFERS];
    int n;
};

static bool is_plain(const char *word)
{
    struct buf command = { 0 };
    shell_word(&command, "cutune");
    shell_word(&command, word);
    bool same = !command.failed && !strcmp(command.data + sizeof "cutune", word);
    buf_free(&command);
    return same;
}

/* `what` may be null. */
static void offer(struct completion *c, const char *word, const char *what)
{
    struct buf told = { 0 };
    if (strncmp(word, c->begun, strlen(c->begun)) != 0 || !is_plain(word) || c->n == MAX_OFFERS)
        return;
    for (int i = 0; i < c->n; i++)
        if (!strcmp(c->offers[i], word))
            return;
    if (!(c->offers[c->n] = mem_strdup(word)))
        return;
    c->n++;
    buf_str(&told, what ? what : "");
    if (told.data)
        err_line(told.data);
    printf("%s%s%s%s\n", buf_text(&c->before), word, told.len ? "\t" : "", buf_text(&told));
    buf_free(&told);
}

/* From here on the part after the last `mark` is completed. */
static void go_past(struct completion *c, char mark)
{
    const char *last = strrchr(c->begun, mark);
    if (!last)
        return;
    buf_put(&c->before, c->begun, (size_t)(last + 1 - c->begun));
    c->begun = last + 1;
}

/* A name that is to be given a value, unless the part in front has one. */
static void offer_assigned(struct completion *c, const char *name)
{
    struct buf word = { 0 }, before = { 0 };
    const char *option = strncmp(buf_text(&c->before), "--", 2) ? NULL : strchr(c->before.data, '=');
    buf_fmt(&word, ",%s=", name);
    buf_fmt(&before, ",%s", option ? option + 1 : buf_text(&c->before));
    if (!word.failed && !strstr(buf_text(&before), word.data))
        offer(c, word.data + 1, NULL);
    buf_free(&word);
    buf_free(&before);
}

/* Offers what work(arg, ...) puts into its answer, a word and what it is, if that takes no longer: it is done in a child. */
static void offer_from(struct completion *c, int seconds, int (*work)(void *arg, struct buf *answer, struct err *err), void *arg)
{
    struct buf answer = { 0 };
    struct err err;
    bool known = !child_run(seconds, seconds, work, arg, &answer, &err);
    struct cursor at = cursor_on(answer.data, known ? answer.len : 0);
    while (at.at < at.end && !at.bad) {
        size_t nword = 0, nwhat = 0;
        const char *text = get_lstr(&at, &nword), *told = get_lstr(&at, &nwhat);
        char *word = text && told ? mem_strndup(text, nword) : NULL, *what = word ? mem_strndup(told, nwhat) : NULL;
        if (what)
            offer(c, word, what);
        mem_free(word);
        mem_free(what);
    }
    buf_free(&answer);
}

/* ---- what the words of an option can be */

static const struct op *op_of(struct completion *c)
{
    const struct args *args = &c->r.args;
    struct err err;
    if (!c->r.op)
        (void)request_op(&c->r, args->op ? args->op : args->ops.n ? args->ops.at[args->ops.n - 1] : NULL, &err);
    return c->r.op;
}

static void offer_scripts(struct completion *c, const char *folder)
{
    struct err err;
    const char *home;
    char **names = NULL;
    int n = 0;
    if (home_find(&home, &err) || script_names(folder, &names, &n, &err))
        return;
    for (int i = 0; i < n; i++)
        offer(c, names[i], NULL);
    mem_free(names);
}

static void offer_ops(struct completion *c)
{
    offer_scripts(c, "ops");
}

static void offer_strategies(struct completion *c)
{
    go_past(c, ','); /* simulate takes several */
    offer_scripts(c, "search");
}

struct shapes {
    struct completion *c;
    struct buf *answer;
};

static int put_won(void *arg, const struct winner *w)
{
    struct shapes *s = arg;
    buf_lstr(s->answer, w->sizes);
    buf_lstr(s->answer, "tuned");
    return buf_check(s->answer, NULL);
}

static int put_wanted(void *arg, const struct wanted_problem *w)
{
    struct shapes *s = arg;
    if (strcmp(w->op, s->c->r.op->name) != 0)
        return 0;
    buf_lstr(s->answer, w->sizes);
    buf_lstr(s->answer, "wanted");
    return buf_check(s->answer, NULL);
}

/* Those in the database, which another process may have locked. */
static int list_shapes(void *arg, struct buf *answer, struct err *err)
{
    struct completion *c = arg;
    struct shapes s = { c, answer };
    int rc = request_read(&c->r, err);
    if (rc || !c->r.store)
        return rc;
    return store_each_winner_of(c->r.store, c->r.op->name, NULL, put_won, &s, err)
        ?: store_each_wanted(c->r.store, NULL, put_wanted, &s, err);
}

/* Whole shapes: those in the database, and the op's own. If none fits, one axis after another. */
static void offer_shapes(struct completion *c)
{
    const struct op *op = op_of(c);
    if (!op)
        return;
    offer_from(c, DATABASE_S, list_shapes, c);
    for (int i = 0; i < op->nshapes; i++) {
        struct buf sizes = { 0 };
        problem_print(&sizes, op, &op->shapes[i].problem);
        offer(c, buf_text(&sizes), NULL);
        buf_free(&sizes);
    }
    if (c->n)
        return;
    go_past(c, ',');
    for (int i = 0; i < op->naxes; i++)
        offer_assigned(c, op->axes[i].name);
}

static void offer_types(struct completion *c)
{
    const struct op *op = op_of(c);
    for (int i = 0; op && i < op->nrows; i++) {
        struct buf types = { 0 };
        op_row_print(&types, op, i);
        offer(c, buf_text(&types), NULL);
        buf_free(&types);
    }
}

static void offer_variants(struct completion *c)
{
    const struct op *op = op_of(c);
    for (int i = 0; op && i < op->nvariants; i++)
        offer(c, op->variants[i].name, NULL);
}

static void offer_values(struct completion *c, const struct param *p)
{
    for (int i = 0; i < p->n; i++) {
        struct buf value = { 0 };
        val_print(&value, p->values[i]);
        offer(c, buf_text(&value), i ? NULL : "the default");
        buf_free(&value);
    }
}

/* Of --variant, or of all: the names of parameters, and after a name its values. */
static void offer_parameters(struct completion *c)
{
    const struct op *op = op_of(c);
    go_past(c, ',');
    const char *name = c->begun;
    size_t n = strcspn(name, "=");
    bool named = name[n];
    go_past(c, '=');
    for (int i = 0; op && i < op->nvariants; i++) {
        const struct variant *v = &op->variants[i];
        if (c->r.args.variant && strcmp(c->r.args.variant, v->name) != 0)
            continue;
        for (const struct param *p = v->params; p < v->params + v->nparams; p++) {
            if (!named)
                offer_assigned(c, p->name);
            else if (strlen(p->name) == n && !memcmp(p->name, name, n))
                offer_values(c, p);
        }
    }
}

static int list_devices(void *backend, struct buf *answer, struct err *err)
{
    static struct devspec found[MAX_DEVICES];
    int n = ((const struct backend *)backend)->list(found, MAX_DEVICES, err);
    for (int i = 0; i < n && i < MAX_DEVICES; i++) {
        char id[32];
        devspec_id(&found[i], id);
        buf_lstr(answer, id);
        buf_lstr(answer, found[i].name);
    }
    return buf_check(answer, err);
}

/* Only drivers know. One that hangs or crashes does so in a child. */
static void offer_devices(struct completion *c)
{
    const struct backend *b;
    for (int i = 0; (b = backend_at(i)); i++)
        offer_from(c, DEVICES_S, list_devices, (void *)b);
}

/* By the option's name; the others say in the help what they take, and that will do. */
static const struct {
    const char *option;
    void (*offer)(struct completion *c);
} known[] = {
    { "op", offer_ops },           { "shape", offer_shapes },      { "dtype", offer_types },         { "device", offer_devices },
    { "variant", offer_variants }, { "config", offer_parameters }, { "strategy", offer_strategies },
};

/* ---- what the help calls an argument: "json|csv", "NAME|FILE.lua", "DIR", "TABLE..." */

/* The first that names files: "FILE", or one with an ending; only FILE.lua says that it must be that one. */
static void offer_files(const char *arg)
{
    for (const char *at = arg; *at; at += strcspn(at, "|"), at += *at == '|') {
        size_t n = strcspn(at, "|,");
        const char *end = memchr(at, '.', n);
        bool is_file = !strncmp(at, "FILE", 4);
        if (!strncmp(at, "DIR", 3)) {
            puts(":folders");
            return;
        }
        if (is_file || !strncmp(at, "TABLE", 5) || (end && isalpha((unsigned char)end[1]))) {
            bool only = is_file && end && isalpha((unsigned char)end[1]);
            printf(":files%s%.*s\n", only ? " " : "", only ? (int)(at + n - end) : 0, only ? end : "");
            return;
        }
    }
}

/* A word in small letters is to be typed as it is. METRIC is one of the op's. */
static void offer_choices(struct completion *c, const char *arg)
{
    for (const char *at = arg; *at; at += strcspn(at, "|"), at += *at == '|') {
        char word[32];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "|"), at);
        if (islower((unsigned char)*word) && !word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789")])
            offer(c, word, NULL);
        const struct op *op = strcmp(word, "METRIC") ? NULL : op_of(c);
        for (int i = 0; op && i < op->nmetrics; i++)
            offer(c, op->metrics[i].name, NULL);
    }
}

static void offer_of_option(struct completion *c, const struct argp_option *option)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].option, option->name)) {
            known[i].offer(c);
            offer_files(option->arg);
            return;
        }
    offer_choices(c, option->arg);
    offer_files(option->arg);
}

/* ---- the line */

static void offer_commands(struct completion *c)
{
    for (const struct command *const *all = commands; *all; all++)
        offer(c, (*all)->name, (*all)->summary);
}

/* "--name", "--name=..." or "-o", if it takes an argument; else null. */
static const struct argp_option *option_of(const struct command *command, const char *word)
{
    size_t n = strcspn(word, "=");
    for (const struct argp_option *o = command->options; o->name || o->key; o++) {
        bool is_short = word[0] == '-' && word[1] == o->key && !word[2];
        bool is_long = o->name && !strncmp(word, "--", 2) && strlen(o->name) + 2 == n && !memcmp(o->name, word + 2, n - 2);
        if (o->arg && (is_short || is_long))
            return o;
    }
    return NULL;
}

/* words[0]: the command's name; the last is the one to complete. */
static void complete_command(struct completion *c, const struct command *command, char **words, int n)
{
    for (int i = 1; i < n - 1; i++)
        if (!strcmp(words[i], "--")) { /* behind it there are no options */
            offer_files(command->word ? command->word : "");
            return;
        }
    bool assigned = !strncmp(c->begun, "--", 2) && strchr(c->begun, '=');
    const char *name = assigned ? c->begun : strchr(words[n - 2], '=') ? "" : words[n - 2];
    const struct argp_option *option = option_of(command, name);
    n -= option && !assigned ? 2 : 1; /* that come before */
    words[n] = NULL;
    args_glance(command, n, words, &c->r.args);
    if (option && assigned) {
        size_t length = strcspn(c->begun, "=") + 1;
        buf_put(&c->before, c->begun, length);
        c->begun += length;
    }
    if (option) {
        offer_of_option(c, option);
        return;
    }
    if (command->word && *c->begun != '-') {
        offer_files(command->word);
        return;
    }
    for (const struct argp_option *o = command->options; o->name || o->key; o++) {
        struct buf word = { 0 };
        buf_fmt(&word, "--%s", o->name ? o->name : "help");
        offer(c, buf_text(&word), o->doc);
        buf_free(&word);
    }
}

/* The next word of a line, as a shell would read it; `*line` goes to its end. What is left open at the end counts as closed. */
static char *next_word(const char **line, struct arena *texts)
{
    struct buf word = { 0 };
    const char *at = *line, *home = getenv("HOME");
    char quote = 0;
    if (!strncmp(at, "~/", 2) && home) {
        buf_str(&word, home);
        at++;
    }
    for (; *at && (quote || !isspace((unsigned char)*at)); at++) {
        if (quote ? *at == quote : *at == '\'' || *at == '"')
            quote = quote ? 0 : *at;
        else if (*at != '\\' || quote == '\'')
            buf_put(&word, at, 1);
        else if (at[1])
            buf_put(&word, ++at, 1);
    }
    *line = at;
    char *copy = word.failed ? NULL : arena_strdup(texts, buf_text(&word));
    buf_free(&word);
    return copy;
}

/* The first is the program's name. */
static void complete_words(char **words, int n)
{
    struct completion c = { .begun = words[n - 1] };
    const struct command *command = n > 2 ? command_find(words[1]) : NULL;
    if (n == 2 || (n == 3 && !strcmp(words[1], "help")))
        offer_commands(&c);
    if (n == 2) {
        offer(&c, "help", "explains a command");
        offer(&c, "--help", NULL);
        offer(&c, "--version", NULL);
    }
    if (command)
        complete_command(&c, command, words + 1, n - 1);
    while (c.n)
        mem_free(c.offers[--c.n]);
    buf_free(&c.before);
    request_free(&c.r);
}

int complete_line(const char *line)
{
    struct arena *texts = arena_new();
    char *words[MAX_WORDS + 1];
    int n = 0, nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO); /* a driver's words, too */
    for (bool more = texts; more && n < MAX_WORDS; n++) {
        line += strspn(line, " \t\n");
        words[n] = next_word(&line, texts);
        more = words[n] && *line;
    }
    if (n && words[n - 1] && !*line)
        complete_words(words, n);
    arena_free(texts);
    return DONE;
}
