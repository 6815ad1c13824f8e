/* The worker protocol, both ways: 'r' and a stream of frames, or anything else and edits to a good stream. */
#include "worker/wire.h"
#include "fuzz.h"
#include "unit/sample_op.h"

static struct sample sample;

static void put_config(struct buf *out, const struct op *op)
{
    struct config c = { .variant = 0 };
    config_put(out, op, &c);
}

static void put_result(struct buf *out)
{
    double samples[] = { 999, 1000, 1001 };
    struct result r = { .outcome = OUT_OK, .nsamples = 3, .samples = samples, .resources = { 32, 1024, 0, 512 } };
    must(stats_of(samples, 3, &r.stats, NULL) == 0);
    result_put(out, &r);
}

/* A frame of each kind that has something in it. */
static void good_stream(struct buf *out, const struct op *op)
{
    struct task t = { .home = "/", .op = sample_op(&sample), .problem = { { 4, 5, 1 } }, .dev = fuzz_device() };
    size_t begin = frame_begin(out, F_HELLO);
    buf_u32(out, WIRE_VERSION);
    frame_end(out, begin);
    begin = frame_begin(out, F_SETUP);
    task_put(out, &t);
    frame_end(out, begin);
    begin = frame_begin(out, F_RENDER);
    put_config(out, op);
    frame_end(out, begin);
    begin = frame_begin(out, F_RUN);
    buf_f64(out, 1000);
    put_config(out, op);
    buf_bytes(out, "binary", 6);
    frame_end(out, begin);
    begin = frame_begin(out, F_RESULT);
    put_result(out);
    buf_u8(out, 0);
    frame_end(out, begin);
    begin = frame_begin(out, F_PLAYED);
    buf_u32(out, 2);
    put_result(out);
    put_result(out);
    frame_end(out, begin);
}

static void take_config(struct cursor *in, const struct op *op)
{
    struct config c;
    struct err err = { 0 };
    int rc = config_get(in, op, &c, &err);
    must_say(rc, &err);
    if (rc)
        return;
    must(c.variant >= 0 && c.variant < op->nvariants);
    for (int i = 0; i < op->variants[c.variant].nparams; i++)
        must(c.at[i] < op->variants[c.variant].params[i].n);
}

static int take_result(struct cursor *in)
{
    struct result r;
    struct err err = { 0 };
    int rc = result_get(in, &r, &err);
    must_say(rc, &err);
    if (rc)
        return rc;
    must(r.outcome < OUT_COUNT && memchr(r.reason, 0, sizeof r.reason));
    double sum = 0;
    for (int i = 0; i < r.nsamples; i++)
        sum += r.samples[i];
    must(sum >= 0);
    result_free(&r);
    return 0;
}

static void take_task(struct cursor *in)
{
    struct task t;
    struct err err = { 0 };
    int rc = task_get(in, &t, &err);
    must_say(rc, &err);
    if (rc)
        return;
    must(t.row < t.op->nrows && memchr(t.dev.backend, 0, sizeof t.dev.backend) && memchr(t.dev.name, 0, sizeof t.dev.name));
    op_free(t.op);
    mem_free((char *)t.home);
}

static void take_frame(enum frame_kind kind, struct cursor *body, const struct op *op)
{
    size_t n;
    uint32_t count;
    switch (kind) {
    case F_SETUP:
        take_task(body);
        break;
    case F_RENDER:
        take_config(body, op);
        break;
    case F_RUN:
        get_f64(body);
        take_config(body, op);
        get_bytes(body, &n);
        break;
    case F_RESULT:
        take_result(body);
        break;
    case F_PLAYED:
        count = get_u32(body);
        while (count-- && !take_result(body))
            ;
        break;
    case F_COMPILED:
        get_u8(body);
        get_lstr(body, &n);
        get_f64(body);
        get_bytes(body, &n);
        get_bytes(body, &n);
        break;
    default:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct buf good = { 0 };
    const struct op *op = sample_op(&sample);
    char *edited = NULL;
    size_t n = 0, used = 0, taken = 0;
    if (input_byte(&in) != 'r') {
        good_stream(&good, op);
        edited = input_edits(&in, good.data, good.len, &n);
        buf_free(&good);
    }
    const char *stream = edited ? edited : (const char *)in.at;
    size_t left = edited ? n : in.left;
    for (;;) {
        enum frame_kind kind;
        struct cursor body;
        struct err err = { 0 };
        int rc = frame_take(stream + used, left, &kind, &body, &taken, &err);
        must_say(rc, &err);
        if (rc || !taken)
            break;
        must(taken <= left);
        take_frame(kind, &body, op);
        used += taken;
        left -= taken;
    }
    free(edited);
    return 0;
}
