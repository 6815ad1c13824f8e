/* `cutune show --resources`: what each kernel of a configuration takes, as the device's driver tells it. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/show.h"
#include "cli/text.h"
#include "model/plan.h"

static void resource_cell(struct table *table, int64_t value, const char *unit)
{
    if (value >= 0)
        table_cell(table, "%lld%s", (long long)value, unit);
    else
        table_cell(table, "unknown");
}

static json_t *resource_json(int64_t value)
{
    return value >= 0 ? json_integer(value) : json_null();
}

/* Asks the device for each kernel of the variant; a row or an object each. */
static int read_kernels(const struct subject *s, struct device *d, struct module *m, struct table *table, json_t **array,
                        struct err *err)
{
    const struct variant *v = &s->t->op->variants[s->config.variant];
    struct plan *plan = NULL;
    struct val slots[MAX_SLOTS];
    int rc = plan_new(s->t->op, s->config.variant, &plan, err);
    if (rc == 0)
        plan_slots(plan, &s->t->problems[0], s->t->rows[0], &s->t->dev, &s->config, slots);
    for (int i = 0; rc == 0 && i < v->nlaunches; i++) {
        struct geometry g;
        struct kernel *kernel;
        struct resources r;
        rc = plan_geometry(plan, i, slots, &g, err);
        if (rc == 0)
            rc = device_kernel(d, m, v->launches[i].kernel, g.shared, &kernel, &r, err);
        if (rc)
            break;
        table_cell(table, "%s", v->launches[i].kernel);
        resource_cell(table, r.registers, "");
        resource_cell(table, r.shared, " B");
        resource_cell(table, g.shared, " B");
        resource_cell(table, r.local, " B");
        resource_cell(table, r.max_threads, "");
        json_t *o = json_with(json_object(), "kernel", json_text(v->launches[i].kernel));
        o = json_with(o, "registers", resource_json(r.registers));
        o = json_with(o, "shared_bytes", resource_json(r.shared));
        o = json_with(o, "dynamic_shared_bytes", resource_json(g.shared));
        o = json_with(o, "local_bytes", resource_json(r.local));
        *array = json_append(*array, json_with(o, "max_threads", resource_json(r.max_threads)));
    }
    plan_free(plan);
    return rc;
}

static int load_and_read(const struct subject *s, const struct buf *binary, struct table *table, json_t **array, struct err *err)
{
    struct device *d = NULL;
    struct module *m = NULL;
    int rc = device_open(&s->t->dev, &d, err);
    if (rc == 0)
        rc = device_load(d, binary->data, binary->len, &m, err);
    if (rc == 0)
        rc = read_kernels(s, d, m, table, array, err);
    if (m)
        device_unload(d, m);
    if (d)
        device_close(d);
    return rc;
}

int show_resources(const struct subject *s, const struct show_args *args)
{
    struct err err = { 0 };
    struct buf binary = { 0 };
    if (args->arch && !args->args.device)
        return complain(FAILED, "--resources: the device's driver tells them: give a --device that is present, without --arch");
    int code = subject_compile(s, false, &binary);
    struct table table = { .align = "lrrrrr" };
    json_t *array = json_array();
    const char *const heads[] = { "kernel", "registers", "shared", "dynamic", "local", "threads at most" };
    for (int i = 0; i < 6; i++)
        table_cell(&table, "%s", heads[i]);
    if (code == DONE && load_and_read(s, &binary, &table, &array, &err) != 0)
        code = complain(FAILED, "%s", err.msg);
    if (code == DONE)
        code = args->args.json ? json_print(json_incref(array)) : table_print(&table, 0, stdout);
    json_decref(array);
    buf_free(&table.cells);
    buf_free(&binary);
    return code;
}
