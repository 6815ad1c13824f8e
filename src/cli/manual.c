/* `cutune manual FOLDER`: the manual pages, cutune.1 and one for each command, from what --help prints. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/output.h"

enum { LINE_WIDTH = 60 };

/* One word, as it is. What groff would make typographic marks of is spelled out. */
static void put_word(struct buf *out, const char *word, size_t n)
{
    static const char *const spelled[128] = {
        ['\\'] = "\\e", ['-'] = "\\-", ['\''] = "\\(aq", ['`'] = "\\(ga", ['^'] = "\\(ha", ['~'] = "\\(ti", ['"'] = "\\(dq",
    };
    if (n && *word == '.')
        buf_str(out, "\\&");
    for (size_t i = 0; i < n; i++) {
        const char *as = (unsigned char)word[i] < 128 ? spelled[(unsigned char)word[i]] : NULL;
        buf_put(out, as ? as : &word[i], as ? strlen(as) : 1);
    }
}

/* Prose: each sentence begins a line. */
static void put_prose(struct buf *out, const char *text, size_t n)
{
    size_t width = 0;
    for (const char *at = text, *end = text + n; at < end;) {
        size_t length = strcspn(at, " \n");
        if (length > (size_t)(end - at))
            length = (size_t)(end - at);
        if (length) {
            bool sentence = width && strchr(".!?", at[-2]) && at[-1] == ' ';
            buf_str(out, !width ? "" : sentence || width + length > LINE_WIDTH ? "\n" : " ");
            width = sentence || width + length > LINE_WIDTH ? length : width + length + 1;
            put_word(out, at, length);
        }
        at += length + 1;
    }
    buf_str(out, "\n");
}

/* "Examples:" and its lines, which are kept as they are. */
static void put_examples(struct buf *out, const char *text)
{
    buf_str(out, ".SH EXAMPLES\n.EX\n");
    for (const char *at = strchr(text, '\n'); at; at = strchr(at, '\n')) {
        at++;
        size_t n = strcspn(at, "\n"), indent = strspn(at, " ");
        put_word(out, at + indent, n - indent);
        buf_str(out, "\n");
    }
    buf_str(out, ".EE\n");
}

/* Paragraphs, of which the last may be examples: they are returned, to come after the options. (--help has the options where the \v is.) */
static const char *put_doc(struct buf *out, const char *doc)
{
    buf_str(out, ".SH DESCRIPTION\n");
    for (const char *at = doc; *at;) {
        const char *end = strpbrk(at, "\v");
        const char *blank = strstr(at, "\n\n");
        end = blank && (!end || blank < end) ? blank : end;
        size_t n = end ? (size_t)(end - at) : strlen(at);
        if (!strncmp(at, "Example", 7))
            return at;
        buf_str(out, at > doc ? ".PP\n" : "");
        put_prose(out, at, n);
        at += n + strspn(at + n, "\v\n");
    }
    return "";
}

static bool has_word(const struct command *c, const char *word, size_t n)
{
    if (n > 2 && !strncmp(word, "--", 2)) {
        for (const struct argp_option *o = c->options; o->name || o->key; o++)
            if (o->name && strlen(o->name) == n - 2 && !strncmp(o->name, word + 2, n - 2))
                return true;
        return false;
    }
    return strlen(c->name) == n && !strncmp(c->name, word, n);
}

static bool is_told(const struct told *t, const struct command *c)
{
    if (!c || !t->of)
        return true;
    for (const char *at = t->of; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        if (has_word(c, at, n))
            return true;
        at += n;
    }
    return false;
}

/* What concerns the command; null: the program, all of it. */
static void put_told(struct buf *out, const char *title, const struct told *t, const struct command *c)
{
    bool any = false;
    for (; t->name; t++) {
        if (!is_told(t, c))
            continue;
        if (!any)
            buf_fmt(out, ".SH %s\n", title);
        any = true;
        buf_str(out, ".TP\n\\fB");
        put_word(out, t->name, strlen(t->name));
        buf_str(out, "\\fR\n");
        put_prose(out, t->text, strlen(t->text));
    }
}

static void put_options(struct buf *out, const struct argp_option *o)
{
    buf_str(out, ".SH OPTIONS\n");
    for (; o->name || o->key; o++) {
        if (!o->doc)
            continue;
        buf_str(out, ".TP\n");
        if (o->key > 0 && o->key < 128)
            buf_fmt(out, "\\fB\\-%c\\fR, ", o->key);
        buf_str(out, "\\fB\\-\\-");
        put_word(out, o->name, strlen(o->name));
        buf_str(out, "\\fR");
        if (o->arg) {
            buf_str(out, "=\\fI");
            put_word(out, o->arg, strlen(o->arg));
            buf_str(out, "\\fR");
        }
        buf_str(out, "\n");
        put_prose(out, o->doc, strlen(o->doc));
    }
}

/* SOURCE_DATE_EPOCH makes builds repeat. */
static void put_head(struct buf *out, const char *name, const char *summary)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t now = epoch ? (time_t)atoll(epoch) : time(NULL);
    struct tm day;
    char date[16] = "";
    if (gmtime_r(&now, &day))
        strftime(date, sizeof date, "%Y-%m-%d", &day);
    buf_fmt(out, ".TH \"%s\" 1 \"%s\" \"%s\" \"\"\n.SH NAME\n", name, date, argp_program_version);
    put_word(out, name, strlen(name));
    buf_str(out, " \\- ");
    put_word(out, summary, strlen(summary));
    buf_str(out, "\n.SH SYNOPSIS\n");
}

static void put_end(struct buf *out, const char *examples, const char *see)
{
    buf_str(out, ".SH EXIT STATUS\n");
    put_prose(out, EXIT_STATUS, strlen(EXIT_STATUS));
    put_examples(out, examples);
    buf_fmt(out, ".SH SEE ALSO\n%s\n", see);
}

static void put_command(struct buf *out, const struct command *c)
{
    char name[64];
    snprintf(name, sizeof name, "cutune-%s", c->name);
    put_head(out, name, c->summary);
    buf_str(out, "\\fBcutune ");
    put_word(out, c->name, strlen(c->name));
    buf_str(out, "\\fR [\\fIOPTION...\\fR]");
    if (c->word)
        buf_fmt(out, " \\fI%s\\fR", c->word);
    buf_str(out, "\n");
    const char *examples = put_doc(out, c->doc);
    put_options(out, c->options);
    put_told(out, "ENVIRONMENT", program_environment, c);
    put_told(out, "FILES", program_files, c);
    put_end(out, examples, ".BR cutune (1)");
}

static void put_program(struct buf *out)
{
    put_head(out, "cutune", "an autotuner for compute kernels");
    buf_str(out, "\\fBcutune\\fR \\fICOMMAND\\fR [\\fIOPTION...\\fR]\n");
    (void)put_doc(out, PROGRAM_DOC);
    buf_str(out, ".SH COMMANDS\n");
    for (const struct command *const *c = commands; *c; c++) {
        buf_str(out, ".TP\n.BR cutune\\-");
        put_word(out, (*c)->name, strlen((*c)->name));
        buf_str(out, " (1)\n");
        put_prose(out, (*c)->summary, strlen((*c)->summary));
    }
    put_told(out, "OPTIONS", program_options, NULL);
    put_told(out, "ENVIRONMENT", program_environment, NULL);
    put_told(out, "FILES", program_files, NULL);
    put_end(out, PROGRAM_EXAMPLES, ".BR cutune\\-run (1)");
}

static int write_page(const char *folder, const struct command *c, struct err *err)
{
    struct buf page = { 0 }, path = { 0 };
    buf_fmt(&path, "%s/cutune%s%s.1", folder, c ? "-" : "", c ? c->name : "");
    if (c)
        put_command(&page, c);
    else
        put_program(&page);
    int rc = buf_check(&page, err) ?: buf_check(&path, err) ?: output_write(path.data, &page, err);
    buf_free(&page);
    buf_free(&path);
    return rc;
}

int manual_write(const char *folder)
{
    struct err err;
    int rc = write_page(folder, NULL, &err);
    for (const struct command *const *c = commands; *c && !rc; c++)
        rc = write_page(folder, *c, &err);
    return rc ? complain("%s", err.msg) : DONE;
}
