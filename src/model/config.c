#include "model/config.h"

#include <string.h>

#include "model/pairs.h"

void config_print(struct buf *out, const struct op *op, const struct config *c)
{
    const struct variant *v = &op->variants[c->variant];
    for (int i = 0; i < v->nparams; i++) {
        buf_fmt(out, "%s%s=", i ? "," : "", v->params[i].name);
        val_print(out, v->params[i].values[c->at[i]]);
    }
}

void config_print_json(struct buf *out, const struct op *op, const struct config *c)
{
    const struct variant *v = &op->variants[c->variant];
    buf_str(out, "{");
    for (int i = 0; i < v->nparams; i++) {
        struct val value = v->params[i].values[c->at[i]];
        const char *quote = value.type == VAL_STR ? "\"" : ""; /* a word: nothing in it asks for more */
        buf_fmt(out, "%s\"%s\":%s", i ? "," : "", v->params[i].name, quote);
        val_print(out, value);
        buf_str(out, quote);
    }
    buf_str(out, "}");
}

/* Moves *at behind a word in quotes, or else a number or truth value. Its length; 0 if there is none. */
static size_t json_word(const char **at, const char **word)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
    bool quoted = **at == '"';
    *word = *at + quoted;
    size_t n = strspn(*word, letters);
    const char *digit = *word + (**word == '-');
    bool bare = (*digit >= '0' && *digit <= '9') || (n == 4 && !memcmp(*word, "true", 4)) || (n == 5 && !memcmp(*word, "false", 5));
    if (quoted ? (*word)[n] != '"' : !bare)
        return 0;
    *at = *word + n + quoted;
    return n;
}

bool config_of_json(struct buf *out, const char *json)
{
    const char *at = json, *name, *value;
    if (!strcmp(json, "{}"))
        return true;
    if (*at++ != '{')
        return false;
    for (char end = ','; end == ','; end = *at++) {
        size_t n = *at == '"' ? json_word(&at, &name) : 0;
        if (!n || *at++ != ':')
            return false;
        size_t m = json_word(&at, &value);
        if (!m || (*at != ',' && *at != '}'))
            return false;
        buf_fmt(out, "%s%.*s=%.*s", out->len ? "," : "", (int)n, name, (int)m, value);
    }
    return !*at;
}

static int param_of(const struct variant *v, const struct pair *p)
{
    for (int i = 0; i < v->nparams; i++)
        if (pair_named(p, v->params[i].name))
            return i;
    return -1;
}

static struct word_list values_of(const struct param *param)
{
    struct word_list known = { 0 };
    for (int i = 0; i < param->n; i++) {
        struct buf text = { 0 };
        val_print(&text, param->values[i]);
        word_add(&known, "%s", buf_text(&text));
        buf_free(&text);
    }
    return known;
}

static int no_value(const struct param *param, const struct pair *p, struct err *err)
{
    struct word_list known = values_of(param);
    return err_set(err, ERR_INVALID, "configuration: %s=%.*s is not among its values: %s", param->name, p->value_len, p->value,
                   known.text);
}

/* The index of the value that config_print writes like this; a negative code if there is none. */
static int value_of(const struct param *param, const struct pair *p, struct err *err)
{
    struct buf text = { 0 };
    int at = 0;
    for (; at < param->n; at++) {
        buf_clear(&text);
        val_print(&text, param->values[at]);
        if (text.failed || pair_valued(p, buf_text(&text)))
            break;
    }
    bool failed = text.failed;
    buf_free(&text);
    if (failed)
        return err_nomem(err);
    return at < param->n ? at : no_value(param, p, err);
}

static int no_param(const struct variant *v, const struct pair *p, struct err *err)
{
    struct word_list known = { 0 };
    for (int i = 0; i < v->nparams; i++)
        word_add(&known, "%s", v->params[i].name);
    return err_set(err, ERR_INVALID, "configuration: variant %s has no parameter %.*s: it has %s", v->name, p->name_len, p->name,
                   v->nparams ? known.text : "none");
}

static int no_variant(const struct op *op, const char *name, int len, struct err *err)
{
    struct word_list known = { 0 };
    for (int i = 0; i < op->nvariants; i++)
        word_add(&known, "%s", op->variants[i].name);
    return err_set(err, ERR_NOTFOUND, "configuration: %s has no variant '%.*s': its variants are %s", op->name, len, name,
                   op->nvariants ? known.text : "none");
}

/* The variant that is named, by the caller or as variant=NAME in the text; *out is -1 if nobody names one. */
static int named_variant(const struct op *op, const char *variant, const char *text, int *out, struct err *err)
{
    struct pair p;
    int rc;
    *out = -1;
    if (variant && (*out = op_variant(op, variant)) < 0)
        return no_variant(op, variant, (int)strnlen(variant, 80), err);
    while ((rc = pair_next(&text, &p, "configuration", err)) > 0) {
        if (!pair_named(&p, "variant"))
            continue;
        int i = 0;
        while (i < op->nvariants && !pair_valued(&p, op->variants[i].name))
            i++;
        if (i == op->nvariants)
            return no_variant(op, p.value, p.value_len, err);
        if (*out >= 0 && *out != i)
            return err_set(err, ERR_INVALID, "configuration: both variant %s and variant %s are asked for: one can be",
                           op->variants[*out].name, op->variants[i].name);
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
        int i = param_of(v, &p);
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
    struct word_list fitting = { 0 }, all = { 0 };
    struct buf lacking = { 0 };
    int n = 0, named = 0, rc = 0;
    *out = 0;
    if (op->nvariants == 1)
        return 0;
    for (int i = 0; i < op->nvariants; i++) {
        const struct variant *v = &op->variants[i];
        const struct param *lacks;
        word_add(&all, "%s", v->name);
        if (!fits(v, text, &lacks))
            continue;
        if (!lacks)
            word_add(&fitting, "%s", v->name);
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
                     op->name, text, op->nvariants ? all.text : "none");
    else if (!n && named > 1) /* of one alone, the caller finds the wrong value */
        rc = err_set(err, ERR_INVALID, "configuration: no variant has `%.80s`: %s", text, buf_text(&lacking));
    buf_free(&lacking);
    return rc;
}

int config_parse(const struct op *op, const char *variant, const char *text, struct config *out, struct err *err)
{
    struct config c = { 0 };
    int rc = named_variant(op, variant, text, &c.variant, err);
    if (!rc && c.variant < 0)
        rc = implied_variant(op, text, &c.variant, err);
    if (rc)
        return rc;
    const struct variant *v = &op->variants[c.variant];
    bool given[MAX_PARAMS] = { false };
    struct pair p;
    while ((rc = pair_next(&text, &p, "configuration", err)) > 0) {
        if (pair_named(&p, "variant"))
            continue;
        int i = param_of(v, &p);
        if (i < 0)
            return no_param(v, &p, err);
        if (given[i])
            return err_set(err, ERR_INVALID, "configuration: %s is given twice", v->params[i].name);
        int at = value_of(&v->params[i], &p, err);
        if (at < 0)
            return at;
        c.at[i] = (uint16_t)at;
        given[i] = true;
    }
    if (!rc)
        *out = c;
    return rc;
}

void config_of_default(const struct op *op, int i, struct config *out)
{
    const struct default_config *d = &op->defaults[i];
    const struct variant *v = &op->variants[d->variant];
    *out = (struct config){ .variant = d->variant };
    for (int p = 0; p < v->nparams; p++)
        out->at[p] = (uint16_t)param_value(&v->params[p], d->values[p]); /* op_check has seen that it is one */
}

bool config_eq(const struct config *a, const struct config *b)
{
    return a->variant == b->variant && !memcmp(a->at, b->at, sizeof a->at);
}

void config_put(struct buf *out, const struct op *op, const struct config *c)
{
    buf_u32(out, (uint32_t)c->variant);
    for (int i = 0; i < op->variants[c->variant].nparams; i++)
        buf_u32(out, c->at[i]);
}

int config_get(struct cursor *in, const struct op *op, struct config *c, struct err *err)
{
    struct config read = { 0 };
    uint32_t variant = get_u32(in);
    if (in->bad || variant >= (uint32_t)op->nvariants)
        return err_set(err, ERR_CORRUPT, "configuration: names a variant that %s does not have", op->name);
    read.variant = (int)variant;
    const struct variant *v = &op->variants[variant];
    for (int i = 0; i < v->nparams; i++) {
        uint32_t at = get_u32(in);
        if (in->bad || at >= (uint32_t)v->params[i].n)
            return err_set(err, ERR_CORRUPT, "configuration: holds a value that %s of variant %s does not have", v->params[i].name,
                           v->name);
        read.at[i] = (uint16_t)at;
    }
    *c = read;
    return 0;
}
