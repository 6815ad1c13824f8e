#include "cli/text.h"

#include <ctype.h>
#include <string.h>

#include "base/err.h"

/* `=` is plain, except in the first word of a command, which would be an assignment. */
static bool is_plain(const char *word, bool first)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+@%=";
    return *word && !word[strspn(word, letters)] && !(first && strchr(word, '='));
}

/* Whether it can be printed as it is: err_line would change nothing. (The letter at its end keeps blanks there.) */
static bool is_printable(const char *word)
{
    struct buf copy = { 0 };
    buf_fmt(&copy, "%s.", word);
    if (copy.failed)
        return false;
    err_line(copy.data);
    bool same = strncmp(copy.data, word, strlen(word)) == 0;
    buf_free(&copy);
    return same;
}

static void put_quoted(struct buf *out, const char *text)
{
    buf_str(out, "'");
    for (; *text; text++)
        buf_fmt(out, *text == '\'' ? "'\\%c'" : "%c", *text);
    buf_str(out, "'");
}

/* By printf within `$(...)`. The shell drops newlines at the end of that, so they follow as they are. A `-` at the beginning would be an
 * option of printf. */
static void put_spelled(struct buf *out, const char *text)
{
    size_t n = strlen(text);
    while (n && text[n - 1] == '\n')
        n--;
    buf_str(out, "\"$(printf '");
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x80 && isprint(c) && !strchr("\\'%", c) && (i || c != '-'))
            buf_fmt(out, "%c", c);
        else
            buf_fmt(out, "\\%03o", c);
    }
    buf_fmt(out, "')%s\"", text + n);
}

void shell_word(struct buf *command, const char *word)
{
    bool first = !command->len;
    if (!first)
        buf_str(command, " ");
    if (is_plain(word, first))
        buf_str(command, word);
    else if (is_printable(word))
        put_quoted(command, word);
    else
        put_spelled(command, word);
}
