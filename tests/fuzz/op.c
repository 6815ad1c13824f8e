/* The op's serial form. The input is 'r' and the bytes themselves, 'f' and edits to an op with everything, or any other byte and edits to a
 * plainer one. If the op is accepted,
 * everything is done with it that cutune does with ops. */
#include "base/mem.h"
#include "device/backend.h"
#include "fuzz.h"
#include "model/head.h"
#include "model/objective.h"
#include "model/plan.h"
#include "source/source.h"
#include "unit/full_op.h"

static void use_plan(const struct op *op, int variant, const struct problem *prob, int row, const struct devspec *dev)
{
    struct plan *plan = NULL;
    struct err err = { 0 };
    struct val slots[MAX_SLOTS];
    struct config config = { .variant = variant };
    const struct variant *v = variant < 0 ? NULL : &op->variants[variant];
    int rc = plan_new(op, variant, &plan, &err);
    must_say(rc, &err);
    if (rc)
        return;
    plan_slots(plan, prob, row, dev, v ? &config : NULL, slots);
    struct geometry g;
    struct bounds bounds;
    int64_t n;
    unsigned char value[16];
    double bytes, flops;
    bool holds;
    for (int i = 0; i < op->nargs; i++)
        arg_is_buffer(&op->args[i]) ? plan_arg_bytes(plan, i, slots, &n, &err) : plan_arg_value(plan, i, slots, value, &rc, &err);
    plan_work(plan, slots, &bytes, &flops, &err);
    for (int i = -1; i < op->nargs; i++)
        plan_bounds(plan, i, slots, &bounds, &err);
    for (int i = 0; i < (v ? v->nlaunches : 1); i++)
        plan_geometry(plan, i, slots, &g, &err);
    if (rc == 0) {
        const struct guest_param none[2 * MAX_ARGS] = { { .kind = GUEST_VALUE } };
        struct guest_launch *launches;
        struct arena *arena = arena_new();
        must_say(guest_launches(plan, slots, none, arena, &launches, &rc, NULL, &err), &err);
        arena_free(arena);
    }
    for (int i = 0; v && i < v->nworkspaces; i++)
        plan_workspace_bytes(plan, i, slots, &n, &err);
    for (int i = 0; v && i < v->nneeds; i++)
        if (v->needs[i].kind == NEED_ALIGN)
            plan_need(plan, i, slots, &n, &err);
    for (int i = 0; i < plan_checks(plan); i++)
        plan_check(plan, i, slots, dev, &holds, &err);
    for (int i = 0; v && i < op->nmetrics; i++) {
        must(plan_metric(plan, i, slots, 1e-3, 0, &bytes, &err) == 0 || !plan_metric(plan, i, slots, 1e-3, 1, &bytes, &err) ||
             err.msg[0]);
        plan_metric_reads_energy(plan, i);
    }
    if (v)
        plan_refuses(plan, slots, dev);
    plan_free(plan);
}

static void use(const struct op *op)
{
    struct devspec dev = fuzz_device();
    struct problem prob = { 0 };
    struct config config;
    struct err err = { 0 };
    struct buf text = { 0 };
    for (int i = 0; i < op->naxes; i++)
        prob.size[i] = op->axes[i].kind == AXIS_FLAG ? 1 : op->nshapes ? op->shapes[0].problem.size[i] : 37;
    int row = op->nrows - 1;
    for (int v = -1; v < op->nvariants; v++)
        use_plan(op, v, &prob, row, &dev);
    if (!op_default(op, &prob, row, &dev, &config, &err)) {
        if (!source_render(op, &config, row, &dev, &text, &err)) { /* what it says at its head is understood */
            struct head head;
            must(head_read(text.data, &head, &err) == 0);
            head_free(&head);
        }
        buf_clear(&text);
        config_print(&text, op, &config);
        must(config_parse(op, op->variants[config.variant].name, buf_text(&text), &config, &err) == 0);
    }
    struct objective by;
    must(objective_find(op, NULL, &by, &err) == 0);
    buf_clear(&text);
    objective_print(&text, op, &by);
    must(text.len > 0 && *objective_name(op, &by));
    buf_free(&text);
}

/* What op_get accepts is what op_put writes. */
static void round_trip(const struct op *op)
{
    struct buf once = { 0 }, twice = { 0 };
    struct op *again = NULL;
    struct err err = { 0 };
    op_put(&once, op);
    struct cursor in = cursor_on(once.data, once.len);
    must(op_get(&in, false, &again, &err) == 0);
    op_put(&twice, again);
    must(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    op_free(again);
    buf_free(&once);
    buf_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sample sample;
    static struct full full;
    struct input in = { data, size };
    struct buf good = { 0 };
    struct op *op = NULL;
    struct err err = { 0 };
    size_t n = 0;
    char *edited = NULL;
    uint8_t kind = input_byte(&in);
    if (kind != 'r') {
        op_put(&good, kind == 'f' ? full_op(&full) : sample_op(&sample));
        edited = input_edits(&in, good.data, good.len, &n);
        buf_free(&good);
    }
    struct cursor cursor = edited ? cursor_on(edited, n) : cursor_on(in.at, in.left);
    int rc = op_get(&cursor, false, &op, &err);
    must_say(rc, &err);
    if (!rc) {
        round_trip(op);
        use(op);
        op_free(op);
    }
    free(edited);
    return 0;
}
