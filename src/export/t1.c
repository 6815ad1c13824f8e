#include "export/t1.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "replay/json.h"
#include "space/python.h"

enum { MAX_FILE = 64 << 20, MAX_CONDITIONS = 65535 };

/* A member of a JSON object that has to be of this type. */
static int member(json_t *object, const char *name, json_type type, const char *what, json_t **out, struct err *err)
{
    *out = json_object_get(object, name);
    if (*out && json_typeof(*out) == type)
        return 0;
    return err_set(err, ERR_INVALID, "%s %s: %s is wanted", *out ? "wrong" : "there is no", name, what);
}

/* The word that a file has for a type of values: whether these are such ones. */
static int check_type(const json_t *type, const struct param *p, struct err *err)
{
    static const struct {
        const char *word;
        bool is[VAL_STR + 1];
    } words[] = {
        { "int", { [VAL_INT] = true, [VAL_FLOAT] = true } }, /* as some files of the benchmark hub have it */
        { "uint", { [VAL_INT] = true, [VAL_FLOAT] = true } },
        { "float", { [VAL_INT] = true, [VAL_FLOAT] = true } },
        { "bool", { [VAL_BOOL] = true, [VAL_INT] = true } },
        { "string", { [VAL_STR] = true } },
    };
    if (!type)
        return 0;
    const char *word = json_string_value(type);
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i].word))
            continue;
        return words[i].is[p->values[0].type] ? 0 : err_set(err, ERR_INVALID, "its values are not of its Type, %s", word);
    }
    return err_set(err, ERR_INVALID, "Type: one of int, uint, float, bool and string is wanted");
}

/* The text of a list: some files have a list of JSON's instead. */
static int text_of_values(json_t *object, struct buf *text, struct err *err)
{
    json_t *values = json_object_get(object, "Values"), *value;
    size_t i;
    if (!json_is_array(values)) {
        int rc = member(object, "Values", JSON_STRING, "a list as a string, such as \"[1, 2, 4]\"", &values, err);
        if (!rc)
            buf_str(text, json_string_value(values));
        return rc ?: buf_check(text, err);
    }
    json_array_foreach(values, i, value)
    {
        char *one = json_is_boolean(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
        buf_fmt(text, "%s%s", i ? ", " : "[", one ? one : json_is_true(value) ? "True" : "False");
        free(one);
    }
    buf_str(text, i ? "]" : "[]");
    return buf_check(text, err);
}

static int read_param(json_t *object, struct op *op, struct variant *v, struct err *err)
{
    static const char *const reserved[] = { "and", "or", "not", "true", "false", "True", "False", "in", "if", "else" };
    struct param *p = &v->params[v->nparams];
    json_t *name;
    struct buf values = { 0 };
    int rc = json_is_object(object) ? 0 : err_set(err, ERR_INVALID, "an object is wanted");
    rc = rc ?: member(object, "Name", JSON_STRING, "a string", &name, err);
    if (rc)
        return rc;
    const char *text = json_string_value(name);
    bool good = name_ok(text);
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        good = good && strcmp(text, reserved[i]);
    if (!good)
        return err_set(err, ERR_INVALID,
                       "Name '%.80s': a letter or _, then letters, digits and _, at most %d, and no word of the language", text,
                       MAX_NAME);
    for (int i = 0; i < v->nparams; i++)
        if (!strcmp(v->params[i].name, text))
            return err_set(err, ERR_INVALID, "two parameters have the name %s", text);
    p->name = arena_strdup(op->arena, text);
    rc = p->name ? text_of_values(object, &values, err) : err_nomem(err);
    rc = rc ?: python_values(buf_text(&values), op->arena, p, err);
    buf_free(&values);
    rc = rc ?: check_type(json_object_get(object, "Type"), p, err);
    if (rc)
        err_prefix(err, "%s: ", text);
    rc = rc ?: param_distinct(p, err);
    v->nparams += !rc;
    return rc;
}

/* The names that a condition lists. */
static int check_names(const json_t *names, const struct variant *v, struct err *err)
{
    size_t i;
    json_t *name;
    if (!names)
        return 0;
    if (!json_is_array(names))
        return err_set(err, ERR_INVALID, "Parameters: a list of names is wanted");
    json_array_foreach((json_t *)(uintptr_t)names, i, name)
    {
        int p = 0;
        const char *text = json_string_value(name) ?: "";
        while (p < v->nparams && strcmp(v->params[p].name, text))
            p++;
        if (p == v->nparams)
            return err_set(err, ERR_INVALID, "Parameters: unknown name '%.64s': no parameter has it", text);
    }
    return 0;
}

static int read_condition(json_t *object, struct t1 *t, struct variant *v, struct err *err)
{
    json_t *expression;
    struct buf where = { 0 };
    int rc = json_is_object(object) ? 0 : err_set(err, ERR_INVALID, "an object is wanted");
    rc = rc
             ?: member(object, "Expression", JSON_STRING, "a string", &expression, err)
             ?: check_names(json_object_get(object, "Parameters"), v, err);
    if (rc)
        return rc;
    const char *text = json_string_value(expression);
    rc = python_condition(text, v->params, v->nparams, &where, err);
    if (rc)
        err_prefix(err, "`%.60s%s`: ", text, strlen(text) > 60 ? "..." : "");
    t->conditions[v->nwhere] = arena_strdup(t->op->arena, text);
    v->where[v->nwhere] = rc ? NULL : arena_strdup(t->op->arena, buf_text(&where));
    buf_free(&where);
    if (!rc && (!t->conditions[v->nwhere] || !v->where[v->nwhere]))
        rc = err_nomem(err);
    v->nwhere += !rc;
    return rc;
}

/* Reads each object of a list. */
static int read_objects(json_t *params, json_t *conditions, struct t1 *t, struct err *err)
{
    struct op *op = t->op;
    size_t i, nparams = json_array_size(params), nconditions = json_array_size(conditions);
    json_t *object;
    if (!nparams || nparams > MAX_PARAMS)
        return err_set(err, ERR_INVALID, "%zu parameters: 1 to %d", nparams, MAX_PARAMS);
    if (nconditions > MAX_CONDITIONS)
        return err_set(err, ERR_INVALID, "%zu conditions: at most %d", nconditions, MAX_CONDITIONS);
    struct variant *v = op->variants = arena_alloc(op->arena, sizeof *v);
    struct param *all = arena_array(op->arena, nparams, sizeof *all);
    const char **where = arena_array(op->arena, nconditions, sizeof *where);
    t->conditions = arena_array(op->arena, nconditions, sizeof *where);
    if (!v || !all || !where || !t->conditions)
        return err_nomem(err);
    op->nvariants = 1;
    *v = (struct variant){ .name = "t1", .params = all, .where = where };
    json_array_foreach(params, i, object)
    {
        int rc = read_param(object, op, v, err);
        if (rc) {
            err_prefix(err, "parameter %zu: ", i + 1);
            return rc;
        }
    }
    json_array_foreach(conditions, i, object)
    {
        int rc = read_condition(object, t, v, err);
        if (rc) {
            err_prefix(err, "condition %zu: ", i + 1);
            return rc;
        }
    }
    return 0;
}

/* What the op is called: the kernel's name, if it has a good one. */
static const char *name_of(json_t *root, struct op *op)
{
    const char *name = json_string_value(json_object_get(json_object_get(root, "KernelSpecification"), "KernelName"));
    return arena_strdup(op->arena, name && name_ok(name) ? name : "t1");
}

int t1_parse(const char *path, const char *text, size_t n, struct t1 *out, struct err *err)
{
    json_error_t e;
    json_t *root = json_read(text, n, &e), *space, *params, *conditions = NULL;
    struct t1 t = { .op = op_new() };
    int rc = t.op ? 0 : err_nomem(err);
    if (!rc && !root)
        rc = err_set(err, ERR_INVALID, "line %d: %s", e.line, e.text);
    if (!rc) {
        t.op->file = arena_strdup(t.op->arena, path);
        t.op->name = name_of(root, t.op);
        rc = t.op->file && t.op->name ? 0 : err_nomem(err);
    }
    rc = rc
             ?: member(root, "ConfigurationSpace", JSON_OBJECT, "an object (is this a T1 file?)", &space, err)
             ?: member(space, "TuningParameters", JSON_ARRAY, "a list of objects", &params, err);
    if (!rc && json_object_get(space, "Conditions"))
        rc = member(space, "Conditions", JSON_ARRAY, "a list of objects", &conditions, err);
    rc = rc ?: read_objects(params, conditions, &t, err);
    json_decref(root);
    if (rc) {
        err_prefix(err, "%s: ", path);
        t1_free(&t);
    } else {
        *out = t;
    }
    return rc;
}

int t1_read(const char *path, struct t1 *out, struct err *err)
{
    struct buf text = { 0 };
    int rc = file_read(path, MAX_FILE, &text, err) ?: t1_parse(path, buf_text(&text), text.len, out, err);
    buf_free(&text);
    return rc;
}

void t1_free(struct t1 *t)
{
    op_free(t->op);
    t->op = NULL;
}
