/* The metrics of what is stored. They follow from the time, the energy and the op's interface as it is stored, so they are computed when
 * they are listed: a new metric, or one that has changed, is right for all that was measured before. */
#include <stdio.h>

#include "base/mem.h"
#include "model/kernel.h"
#include "model/plan.h"
#include "store/sql.h"

void metrics_end(struct metrics *m)
{
    op_free(m->op);
    buf_free(&m->text);
    *m = (struct metrics){ 0 };
}

/* Its op as it is now; one that cannot be read has no metrics. */
static void take_interface(struct metrics *m, struct store *s)
{
    struct query q;
    struct err why = { 0 };
    const void *bytes;
    size_t n;
    if (m->op_row == m->taken)
        return;
    op_free(m->op);
    m->op = NULL;
    m->taken = m->op_row;
    query_begin(&q, s, &why, "SELECT interface FROM op WHERE id = ?", "i", m->op_row);
    if (query_step(&q) && query_take(&q, "b", &bytes, &n) && n <= MAX_RECORD && interface_get(bytes, n, &m->op, &why))
        m->op = NULL;
    query_end(&q);
}

const char *metrics_reference(struct metrics *m, struct store *s, bool *beside)
{
    take_interface(m, s);
    *beside = m->op && m->op->outside_beside;
    return m->op && m->op->outside ? m->op->outside : "";
}

static void print_all(struct metrics *m, const struct op *op, const struct plan *plan, const struct val *slots,
                      const struct listed *l)
{
    double value;
    for (int i = 0; i < op->nmetrics; i++)
        if (!plan_metric(plan, i, slots, l->time_ns / 1e9, l->joules, &value, NULL))
            buf_fmt(&m->text, "%s\"%s\":%.6g", m->text.len > 1 ? "," : "", op->metrics[i].name, value);
}

const char *metrics_of(struct metrics *m, struct store *s, const struct listed *l)
{
    struct val slots[MAX_SLOTS];
    struct problem problem;
    struct plan *plan = NULL;
    buf_clear(&m->text);
    buf_str(&m->text, "{");
    if (l->time_ns > 0)
        take_interface(m, s);
    if (l->time_ns > 0 && m->op && m->op->nmetrics) {
        struct arena *a = arena_new();
        struct variant v = { .name = l->variant };
        struct op with = *m->op;
        with.nvariants = 1;
        with.variants = &v;
        int types = op_row(&with, l->types, NULL);
        if (a && types >= 0 && !problem_parse(&with, l->problem, &problem, NULL) && config_params(a, l->json, &v) &&
            !plan_new(&with, 0, &plan, NULL)) {
            snprintf(m->dev.backend, sizeof m->dev.backend, "%s", l->backend);
            plan_slots(plan, &problem, types, &m->dev, &only_config, slots);
            print_all(m, &with, plan, slots, l);
        }
        plan_free(plan);
        arena_free(a);
    }
    buf_str(&m->text, "}");
    return buf_text(&m->text);
}
