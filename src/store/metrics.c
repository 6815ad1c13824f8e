/* The metrics of what is stored, by the op's interface as it is there: computed when they are listed, as they follow from what else is there, so that
 * a metric that changes, or a new one, is right for all that was measured before. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/kernel.h"
#include "model/pairs.h"
#include "model/plan.h"
#include "store/sql.h"

void metrics_end(struct metrics *m)
{
    op_free(m->op);
    buf_free(&m->text);
    *m = (struct metrics){ 0 };
}

/* Its op as it is now; one that cannot be read has no metrics. */
static void take_interface(struct metrics *m, struct store *s, int64_t op)
{
    struct query q;
    struct err why = { 0 };
    const void *bytes;
    size_t n;
    if (op == m->id)
        return;
    op_free(m->op);
    m->op = NULL;
    m->id = op;
    query_begin(&q, s, &why, "SELECT interface FROM op WHERE id = ?", "i", op);
    if (query_step(&q) && query_take(&q, "b", &bytes, &n) && n <= MAX_RECORD && interface_get(bytes, n, &m->op, &why))
        m->op = NULL;
    query_end(&q);
}

const char *metrics_reference(struct metrics *m, struct store *s, int64_t op)
{
    take_interface(m, s, op);
    return m->op && m->op->outside ? m->op->outside : "";
}

/* A value as config_of_json has it from JSON, where only words have quotes. */
static struct val value_in(struct arena *a, const struct pair *p, const char *json)
{
    char text[MAX_NAME + 1], quoted[2 * MAX_NAME + 8];
    snprintf(text, sizeof text, "%.*s", p->value_len, p->value);
    snprintf(quoted, sizeof quoted, "\"%.*s\":\"%s\"", p->name_len, p->name, text);
    if (strstr(json, quoted))
        return val_str(arena_strdup(a, text));
    if (!strcmp(text, "true") || !strcmp(text, "false"))
        return val_bool(*text == 't');
    struct expr *number = NULL;
    struct val v = val_int(0);
    if (!expr_compile(text, &(struct scope){ 0 }, &number, NULL))
        expr_eval(number, NULL, &v, NULL);
    expr_free(number);
    return v;
}

/* A variant whose parameters have the configuration's values; false if that is not well formed. */
static bool take_config(struct arena *a, const char *config, const char *json, struct variant *v)
{
    struct pair p;
    int rc;
    v->params = arena_array(a, MAX_PARAMS, sizeof *v->params);
    while ((rc = pair_next(&config, &p, "", NULL)) > 0 && v->params && v->nparams < MAX_PARAMS) {
        struct param *param = &v->params[v->nparams++];
        *param = (struct param){ arena_strndup(a, p.name, (size_t)p.name_len), 1, arena_alloc(a, sizeof *param->values) };
        if (!param->name || !param->values)
            return false;
        *param->values = value_in(a, &p, json);
    }
    return !rc && v->params;
}

static void print_all(struct metrics *m, const struct op *op, const struct plan *plan, const struct val *slots,
                      const struct measured_row *row)
{
    double value;
    for (int i = 0; i < op->nmetrics; i++)
        if (!plan_metric(plan, i, slots, row->time_ns / 1e9, row->joules, &value, NULL))
            buf_fmt(&m->text, "%s\"%s\":%.6g", m->text.len > 1 ? "," : "", op->metrics[i].name, value);
}

const char *metrics_of(struct metrics *m, struct store *s, const struct measured_row *row)
{
    static const struct config only = { 0 };
    struct val slots[MAX_SLOTS];
    struct problem problem;
    struct plan *plan = NULL;
    buf_clear(&m->text);
    buf_str(&m->text, "{");
    if (row->time_ns > 0)
        take_interface(m, s, row->op);
    if (row->time_ns > 0 && m->op && m->op->nmetrics) {
        struct arena *a = arena_new();
        struct variant v = { .name = row->variant };
        struct op with = *m->op;
        with.nvariants = 1;
        with.variants = &v;
        int types = op_row(&with, row->types, NULL);
        if (a && types >= 0 && !problem_parse(&with, row->sizes, &problem, NULL) && take_config(a, row->config, row->json, &v) &&
            !plan_new(&with, 0, &plan, NULL)) {
            plan_slots(plan, &problem, types, row->dev, &only, slots);
            print_all(m, &with, plan, slots, row);
        }
        plan_free(plan);
        arena_free(a);
    }
    buf_str(&m->text, "}");
    return buf_text(&m->text);
}
