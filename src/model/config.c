#include "model/op.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/pairs.h"
#include "model/serial.h"

void config_print(struct buf *out, const struct op *op, const struct config *c)
{
    const struct variant *v = &op->variants[c->variant];
    for (int i = 0; i < v->nparams; i++) {
        buf_fmt(out, "%s%s=", i ? "," : "", v->params[i].name);
        val_print(out, v->params[i].values[c->at[i]]);
    }
}

void config_print_member(struct buf *out, bool first, const char *name, struct val value)
{
    const char *quote = value.type == VAL_STR ? "\"" : ""; /* a word: nothing in it asks for more */
    buf_fmt(out, "%s\"%s\":%s", first ? "" : ",", name, quote);
    val_print(out, value);
    buf_str(out, quote);
}

void config_print_json(struct buf *out, const struct op *op, const struct config *c)
{
    const struct variant *v = &op->variants[c->variant];
    buf_str(out, "{");
    for (int i = 0; i < v->nparams; i++)
        config_print_member(out, !i, v->params[i].name, v->params[i].values[c->at[i]]);
    buf_str(out, "}");
}

/* A member of such an object. */
struct json_member {
    const char *name, *value;
    int name_len, value_len;
    bool word; /* else a number or a truth value */
};

/* Whether this is a number as JSON has it, and not larger than numbers can be. */
static bool is_number(const char *text, int len)
{
    static const char digits[] = "0123456789";
    const char *at = text + (*text == '-');
    size_t n = strspn(at, digits);
    bool whole = at + n == text + len, leads = n > 1 && *at == '0';
    at += n;
    if (n && *at == '.')
        at += 1 + (n = strspn(at + 1, digits));
    if (n && (*at == 'e' || *at == 'E')) {
        at += 1 + (at[1] == '-' || at[1] == '+');
        at += n = strspn(at, digits);
    }
    if (!n || leads || at != text + len)
        return false;
    errno = 0;
    double v = whole ? (double)strtoll(text, NULL, 10) : strtod(text, NULL);
    return whole ? !errno : isfinite(v);
}

/* Reads the next one, and moves *text past it. Returns 1 if there was one, 0 at the end, -1 if the text is not such an object. */
static int next_member(const char **text, bool first, struct json_member *m)
{
    static const char letters[] = WORD_LETTERS ".+-";
    const char *at = *text;
    if (!strcmp(at, first ? "{}" : "}"))
        return 0;
    if (at[0] != (first ? '{' : ',') || at[1] != '"')
        return -1;
    m->name = at += 2;
    at += m->name_len = (int)strspn(at, letters);
    if (!m->name_len || strncmp(at, "\":", 2) != 0)
        return -1;
    m->word = at[2] == '"';
    m->value = at += 2 + m->word;
    at += m->value_len = (int)strspn(at, letters);
    if (m->word ? !m->value_len || *at != '"'
                : !is_number(m->value, m->value_len) && !text_is(m->value, m->value_len, "true") && !text_is(m->value, m->value_len, "false"))
        return -1;
    *text = at + m->word;
    return 1;
}

bool config_of_json(struct buf *out, const char *json)
{
    struct json_member m;
    int rc, n = 0;
    while ((rc = next_member(&json, !n, &m)) > 0)
        buf_fmt(out, "%s%.*s=%.*s", n++ ? "," : "", m.name_len, m.name, m.value_len, m.value);
    return !rc;
}

bool config_params(struct arena *a, const char *json, struct variant *v)
{
    struct json_member m;
    int rc = 0;
    v->nparams = 0;
    v->params = arena_array(a, MAX_PARAMS, sizeof *v->params);
    while (v->params && (rc = next_member(&json, !v->nparams, &m)) > 0) {
        struct val *value = arena_alloc(a, sizeof *value);
        const char *name = arena_strndup(a, m.name, (size_t)m.name_len), *text = arena_strndup(a, m.value, (size_t)m.value_len);
        if (!value || !name || !text || v->nparams == MAX_PARAMS)
            return false;
        *value = m.word                              ? val_str(text)
                 : *text == 't' || *text == 'f'      ? val_bool(*text == 't')
                 : text[strspn(text, "-0123456789")] ? val_float(strtod(text, NULL))
                                                     : val_int(strtoll(text, NULL, 10));
        v->params[v->nparams++] = (struct param){ name, 1, value };
    }
    return v->params && !rc;
}

static struct word_list values_of(const struct param *param)
{
    struct word_list known = { 0 };
    for (int i = 0; i < param->n; i++) {
        struct buf text = { 0 };
        val_print(&text, param->values[i]);
        word_add(&known, buf_text(&text), "");
        buf_free(&text);
    }
    return known;
}

/* A number may be written in other ways than config_print's: 1.50 and 15e-1 are 1.5. What stands behind it ends it. */
static bool is_same_number(struct val value, const struct pair *p)
{
    return value.type == VAL_FLOAT && is_number(p->value, p->value_len) && strtod(p->value, NULL) == value.f;
}

/* The index of the value that is written like this; a negative code if there is none. */
static int value_of(const struct param *param, const struct pair *p, struct err *err)
{
    struct buf text = { 0 };
    int at = 0;
    for (; at < param->n; at++) {
        buf_clear(&text);
        val_print(&text, param->values[at]);
        if (text.failed || text_is(p->value, p->value_len, buf_text(&text)))
            break;
    }
    if (at == param->n)
        for (at = 0; at < param->n && !is_same_number(param->values[at], p);)
            at++;
    int rc = buf_check(&text, err);
    buf_free(&text);
    if (!rc && at == param->n)
        rc = err_set(err, ERR_INVALID, "configuration: %s=%.*s is not among its values: %s", param->name, p->value_len, p->value,
                     values_of(param).text);
    return rc ?: at;
}

/* The variant that is named, by the caller or as variant=NAME in the text; *out is -1 if nobody names one. */
static int named_variant(const struct op *op, const char *variant, const char *text, int *out, struct err *err)
{
    const struct named all = NAMED(op->variants, op->nvariants);
    static const char word[] = "variant";
    struct pair p = { word, variant, strlen(word), variant ? (int)strnlen(variant, 80) : 0 };
    int rc = 1;
    *out = -1;
    for (; rc > 0; rc = pair_next(&text, &p, "configuration", err)) {
        if (!p.value || !text_is(p.name, p.name_len, word))
            continue;
        int i = name_index(all, p.value, p.value_len);
        if (i < 0)
            return err_set(err, ERR_NOTFOUND, "configuration: %s has no variant '%.*s': its variants are %s", op->name, p.value_len,
                           p.value, name_list(all).text);
        if (*out >= 0 && *out != i)
            return err_set(err, ERR_INVALID, "configuration: both variant %s and variant %s are asked for: one can be",
                           name_at(all, *out), name_at(all, i));
        *out = i;
    }
    return rc;
}

/* Whether every name of a well-formed text is a parameter of v. *lacks: the first of them that does not have the value, or null. */
static bool fits(const struct variant *v, const char *text, const struct param **lacks)
{
    struct pair p;
    *lacks = NULL;
    while (pair_next(&text, &p, "configuration", NULL) > 0) {
        int i = name_index(NAMED(v->params, v->nparams), p.name, p.name_len);
        if (i < 0)
            return false;
        if (!*lacks && value_of(&v->params[i], &p, NULL) < 0)
            *lacks = &v->params[i];
    }
    return true;
}

/* Nobody named the variant: the only one that there is, or the only one that has all the parameters and the values. */
static int implied_variant(const struct op *op, const char *text, int *out, struct err *err)
{
    struct word_list fitting = { 0 };
    struct buf lacking = { 0 };
    int n = 0, named = 0, rc = 0;
    *out = 0;
    if (op->nvariants == 1)
        return 0;
    for (int i = 0; i < op->nvariants; i++) {
        const struct variant *v = &op->variants[i];
        const struct param *lacks;
        if (!fits(v, text, &lacks))
            continue;
        if (!lacks)
            word_add(&fitting, v->name, "");
        else
            buf_fmt(&lacking, "%s%s of %s is one of %s", lacking.len ? "; " : "", lacks->name, v->name, values_of(lacks).text);
        if (!lacks || !n)
            *out = i;
        named++;
        n += !lacks;
    }
    if (n > 1)
        rc = err_set(err, ERR_INVALID, "configuration: `%.80s` could be of several variants: add variant=NAME, one of %s", text,
                     fitting.text);
    else if (!named)
        rc = err_set(err, ERR_INVALID, "configuration: no variant of %s has all parameters of `%.80s`: its variants are %s",
                     op->name, text, name_list(NAMED(op->variants, op->nvariants)).text);
    else if (!n && named > 1) /* of one alone, the caller finds the wrong value */
        rc = err_set(err, ERR_INVALID, "configuration: no variant has `%.80s`: %s", text, buf_text(&lacking));
    buf_free(&lacking);
    return rc;
}

int config_parse(const struct op *op, const char *variant, const char *text, struct config *out, struct err *err)
{
    struct config c = { 0 };
    struct pair given[MAX_PARAMS] = { { 0 } };
    int rc = named_variant(op, variant, text, &c.variant, err);
    if (!rc && c.variant < 0)
        rc = implied_variant(op, text, &c.variant, err);
    if (rc)
        return rc;
    const struct variant *v = &op->variants[c.variant];
    const struct pairs params = { "configuration", { "variant ", v->name },     "parameter", "it has", "",
                                  "variant",       NAMED(v->params, v->nparams) };
    rc = pairs_read(text, &params, given, err);
    for (int i = 0; !rc && i < v->nparams; i++) {
        int at = given[i].name ? value_of(&v->params[i], &given[i], err) : 0;
        if (at < 0)
            return at;
        c.at[i] = (uint16_t)at;
    }
    if (!rc)
        *out = c;
    return rc;
}

void io_config(struct serial *s, const struct op *op, struct config *c)
{
    io_int(s, &c->variant, 0, op->nvariants - 1);
    const struct variant *v = serial_failed(s) ? NULL : &op->variants[c->variant];
    for (int i = 0; v && i < v->nparams; i++) {
        int at = c->at[i];
        io_int(s, &at, 0, v->params[i].n - 1);
        c->at[i] = (uint16_t)at;
    }
}
