#include "model/pairs.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 200 }; /* bytes of a pair: no name or value that is right comes near, and messages stay readable */

static void trim(const char **s, int *n)
{
    while (*n && **s == ' ') {
        ++*s;
        --*n;
    }
    while (*n && (*s)[*n - 1] == ' ')
        --*n;
}

int pair_next(const char **text, struct pair *out, const char *what, struct err *err)
{
    const char *item = *text + strspn(*text, " ");
    if (!*item)
        return 0;
    size_t n = strcspn(item, ",");
    if (n > LONGEST)
        return err_set(err, ERR_INVALID, "%s: `%.40s...` is too long for a NAME=VALUE", what, item);
    const char *equals = memchr(item, '=', n);
    if (!equals)
        return err_set(err, ERR_INVALID, "%s: `%.*s` should be NAME=VALUE", what, (int)n, item);
    *out = (struct pair){ .name = item, .value = equals + 1, .name_len = (int)(equals - item) };
    out->value_len = (int)n - out->name_len - 1;
    trim(&out->name, &out->name_len);
    trim(&out->value, &out->value_len);
    if (!out->name_len || !out->value_len)
        return err_set(err, ERR_INVALID, "%s: `%.*s` lacks its %s: it should be NAME=VALUE", what, (int)n, item,
                       out->name_len ? "value" : "name");
    *text = item + n;
    if (**text == ',') {
        ++*text;
        if (!(*text)[strspn(*text, " ")])
            return err_set(err, ERR_INVALID, "%s: ends with a comma: a NAME=VALUE should follow it", what);
    }
    return 1;
}

bool text_is(const char *s, int n, const char *word)
{
    return strlen(word) == (size_t)n && !memcmp(s, word, (size_t)n);
}

const char *name_at(struct named all, int i)
{
    return *(const char *const *)((const char *)all.first + (size_t)i * all.bytes);
}

int name_index(struct named all, const char *name, int len)
{
    for (int i = 0; i < all.n; i++)
        if (text_is(name, len, name_at(all, i)))
            return i;
    return -1;
}

int name_find(struct named all, const char *name)
{
    return name_index(all, name, (int)strlen(name));
}

int pairs_read(const char *text, const struct pairs *p, struct pair given[], struct err *err)
{
    struct pair pair;
    int rc;
    while ((rc = pair_next(&text, &pair, p->what, err)) > 0) {
        int i = name_index(p->known, pair.name, pair.name_len);
        if (i < 0 && p->skip && text_is(pair.name, pair.name_len, p->skip))
            continue;
        if (i < 0)
            return err_set(err, ERR_INVALID, "%s: %s%s has no %s %.*s: %s %s", p->what, p->whose[0], p->whose[1], p->kind,
                           pair.name_len, pair.name, p->list, name_list(p->known).text);
        if (given[i].name)
            return err_set(err, ERR_INVALID, "%s: %s is given twice%s", p->what, name_at(p->known, i), p->twice);
        given[i] = pair;
    }
    return rc;
}

void word_add(struct word_list *l, const char *word, const char *end)
{
    const size_t room = sizeof l->text - sizeof ", ...";
    const char *comma = l->len ? ", " : "";
    size_t n = strlen(comma) + strlen(word) + strlen(end);
    if (l->len > room) /* cut already */
        return;
    if (l->len + n > room) {
        snprintf(l->text + l->len, sizeof l->text - l->len, "%s...", comma);
        l->len = sizeof l->text;
        return;
    }
    snprintf(l->text + l->len, n + 1, "%s%s%s", comma, word, end);
    l->len += n;
}

struct word_list name_list(struct named all)
{
    struct word_list list = { 0 };
    for (int i = 0; i < all.n; i++)
        word_add(&list, name_at(all, i), "");
    if (!all.n)
        word_add(&list, "none", "");
    return list;
}
