#include "model/head.h"

#include <string.h>

#include "base/mem.h"

static const char mark[] = "//cutune ";

void head_put(struct buf *out, const char *word, const char *value)
{
    buf_fmt(out, "%s%s %s\n", mark, word, value);
}

static size_t head_bytes(const char *source)
{
    const char *at = source;
    while (!strncmp(at, mark, strlen(mark)) && strchr(at, '\n'))
        at = strchr(at, '\n') + 1;
    return (size_t)(at - source);
}

/* What stands behind this word in a line; null if the line has another. */
static const char *behind(const char *line, const char *word)
{
    size_t n = strlen(word);
    return !strncmp(line, word, n) && line[n] == ' ' && line[n + 1] ? line + n + 1 : NULL;
}

static int take_line_of(struct head *h, const char *line, struct err *err)
{
    const char *option = behind(line, "option"), *entry = behind(line, "entry"), *headers = behind(line, "headers");
    if (option && h->noptions < MAX_OPTIONS)
        h->options[h->noptions++] = option;
    else if (entry && h->nentries < MAX_ENTRIES && entry_ok(entry))
        h->entries[h->nentries++] = entry;
    else if (headers)
        h->headers = headers;
    else
        return err_set(err, ERR_UNSUPPORTED, "the source's line '%s%.80s' means nothing to this cutune", mark, line);
    return 0;
}

int head_read(const char *source, struct head *out, struct err *err)
{
    *out = (struct head){ 0 };
    size_t n = head_bytes(source);
    if (!n)
        return 0;
    char *line = out->text = mem_strndup(source, n);
    if (!line)
        return err_nomem(err);
    int rc = 0;
    for (char *end; !rc && *line; line = end + 1) {
        end = strchr(line, '\n');
        *end = 0;
        rc = take_line_of(out, line + strlen(mark), err);
    }
    return rc;
}

const char *option_macro(const char *option, int *length)
{
    static const char *const words[] = { "-D", "-U", "--define-macro=", "--undefine-macro=" };
    const char *name = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(option, words[i], strlen(words[i])))
            name = option + strlen(words[i]);
    *length = name ? (int)strspn(name, WORD_LETTERS) : 0;
    return name;
}

bool head_asks(const char *source)
{
    static const char entry[] = "//cutune entry ";
    size_t n = head_bytes(source);
    return n && memmem(source, n, entry, strlen(entry));
}

void head_free(struct head *h)
{
    mem_free(h->text);
}

bool list_line(const char *list, size_t n, int i, char out[MAX_ENTRY + 1])
{
    const char *end = n ? list + n : list;
    for (const char *at = list, *stop; at < end && (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1, i--)
        if (!i && stop - at <= MAX_ENTRY) {
            memcpy(out, at, (size_t)(stop - at));
            out[stop - at] = 0;
            return stop > at;
        }
    return false;
}
