/* The worker protocol, both ways: 'r' and a stream of frames; 'w' and edits to what a compile worker is told, which then answers; or
 * anything else and edits to a stream with a good frame of each kind. */
#include "worker/wire.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/device.h"
#include "fuzz.h"
#include "unit/sample_op.h"
#include "worker/child.h"

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

static void put_outcome(struct buf *out, const char *reason)
{
    buf_u8(out, *reason ? OUT_COMPILE_ERROR : OUT_OK);
    buf_lstr(out, reason);
}

static void put_setup(struct buf *out, const char *backend)
{
    struct task t = { .home = "/", .op = sample_op(&sample), .problem = { { 4, 5, 1 } }, .dev = fuzz_device() };
    snprintf(t.dev.backend, sizeof t.dev.backend, "%s", backend);
    t.dev.shared_driver = true; /* a worker bounds its memory elsewhere: here it would be the fuzzer's */
    size_t begin = frame_begin(out, F_SETUP);
    task_put(out, &t);
    frame_end(out, begin);
}

static void put_render(struct buf *out, const struct op *op)
{
    size_t begin = frame_begin(out, F_RENDER);
    put_config(out, op);
    frame_end(out, begin);
}

static void put_to_worker(struct buf *out, const struct op *op)
{
    size_t begin = frame_begin(out, F_RUN);
    buf_f64(out, 1000);
    put_config(out, op);
    buf_bytes(out, "binary", 6);
    frame_end(out, begin);
    begin = frame_begin(out, F_PLAYOFF);
    buf_u32(out, 3);
    buf_u32(out, 2);
    for (int i = 0; i < 2; i++) {
        put_config(out, op);
        buf_bytes(out, "binary", 6);
    }
    frame_end(out, begin);
}

static void put_to_coordinator(struct buf *out)
{
    size_t begin = frame_begin(out, F_HELLO);
    buf_u32(out, WIRE_VERSION);
    frame_end(out, begin);
    begin = frame_begin(out, F_FAILED);
    buf_lstr(out, "no device");
    frame_end(out, begin);
    begin = frame_begin(out, F_RENDERED);
    put_outcome(out, "tile.cu:1: wrong");
    buf_lstr(out, "0123456789abcdef0123456789abcdef");
    frame_end(out, begin);
    begin = frame_begin(out, F_COMPILED);
    put_outcome(out, "");
    buf_f64(out, 12.5);
    buf_bytes(out, "source", 6);
    buf_bytes(out, "binary", 6);
    buf_bytes(out, "portable", 8);
    buf_lstr(out, "NVRTC 13.0");
    frame_end(out, begin);
    begin = frame_begin(out, F_READY);
    buf_f64(out, 2000);
    buf_f64(out, 1000);
    frame_end(out, begin);
    begin = frame_begin(out, F_RESULT);
    put_result(out);
    buf_u8(out, 0);
    frame_end(out, begin);
    begin = frame_begin(out, F_PLAYED);
    buf_u32(out, 2);
    put_result(out);
    put_result(out);
    buf_u8(out, 0);
    frame_end(out, begin);
    begin = frame_begin(out, F_PLAYING);
    buf_u32(out, 1);
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

static void take_candidate(struct cursor *in, const struct op *op)
{
    size_t n;
    take_config(in, op);
    get_bytes(in, &n);
}

/* A text that fits where the other side puts it. */
static bool take_text(struct cursor *in, size_t room)
{
    size_t n;
    const char *text = get_lstr(in, &n);
    return text && n < room;
}

/* Whether the side that gets it would take it. Configurations and results check themselves. */
static bool take_frame(enum frame_kind kind, struct cursor *body, const struct op *op)
{
    size_t n;
    uint32_t count;
    bool good = true;
    switch (kind) {
    case F_HELLO:
        good = get_u32(body) == WIRE_VERSION;
        break;
    case F_FAILED:
        good = take_text(body, sizeof(struct err));
        break;
    case F_SETUP:
        take_task(body);
        break;
    case F_RENDER:
        take_config(body, op);
        break;
    case F_RENDERED:
        good = get_u8(body) < OUT_COUNT;
        good = take_text(body, 1024) && good;
        good = take_text(body, HASH_HEX) && good;
        break;
    case F_COMPILED:
        good = get_u8(body) < OUT_COUNT;
        good = take_text(body, 1024) && good;
        get_f64(body);
        get_bytes(body, &n);
        get_bytes(body, &n);
        get_bytes(body, &n);
        good = take_text(body, COMPILER_NAME) && good;
        break;
    case F_READY:
        get_f64(body);
        get_f64(body);
        break;
    case F_RUN:
        get_f64(body);
        take_candidate(body, op);
        break;
    case F_PLAYOFF:
        get_u32(body);
        count = get_u32(body);
        while (count-- && !body->bad)
            take_candidate(body, op);
        break;
    case F_RESULT:
        take_result(body);
        get_u8(body);
        break;
    case F_PLAYED:
        count = get_u32(body);
        while (count-- && !take_result(body))
            ;
        get_u8(body);
        break;
    case F_PLAYING:
        get_u32(body);
        break;
    default:
        break;
    }
    return good && !body->bad;
}

/* Whether all whole frames were good; where it stops is where a frame is cut short. */
static bool take_stream(const char *stream, size_t size, const struct op *op)
{
    size_t used = 0;
    bool good = true;
    for (;;) {
        struct frame f;
        struct err err = { 0 };
        int rc = frame_take(stream + used, size - used, &f, &err);
        must_say(rc, &err);
        if (rc || !f.bytes)
            return good && !rc;
        must(f.bytes <= size - used);
        good = take_frame((enum frame_kind)f.kind, &f.body, op) && good;
        used += f.bytes;
    }
}

/* A compile worker over the pretend device, in this process: it reads until there is no more, then takes the coordinator for gone. */
static void serve(void)
{
    struct child c = { 0 };
    struct err err = { 0 };
    must(child_start(&c, &err) == 0);
    compile_worker(&c, NULL);
    child_end(&c);
}

/* Its task, then the edited rest. Whatever it was told, what it answers is sound. */
static void converse(struct input *in, const struct op *op)
{
    static char answers[1 << 20];
    struct buf told = { 0 }, rest = { 0 };
    int ends[2], kept = fcntl(CHILD_FD, F_DUPFD_CLOEXEC, CHILD_FD + 1); /* whatever may be there */
    size_t n, got = 0;
    ssize_t part;
    put_setup(&told, "null");
    for (int i = 0; i < 2; i++) {
        put_render(&rest, op);
        frame_end(&rest, frame_begin(&rest, F_COMPILE));
    }
    char *edited = input_edits(in, rest.data, rest.len, &n);
    must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends));
    must(ends[0] != CHILD_FD || (ends[0] = dup(CHILD_FD)) >= 0);
    must(ends[1] == CHILD_FD || (dup2(ends[1], CHILD_FD) == CHILD_FD && !close(ends[1])));
    must(send(ends[0], told.data, told.len, 0) == (ssize_t)told.len && send(ends[0], edited, n, 0) == (ssize_t)n);
    serve();
    while (got < sizeof answers && (part = recv(ends[0], answers + got, sizeof answers - got, 0)) > 0)
        got += (size_t)part;
    must(take_stream(answers, got, op));
    close(ends[0]);
    close(CHILD_FD);
    if (kept >= 0) {
        dup2(kept, CHILD_FD);
        close(kept);
    }
    free(edited);
    buf_free(&told);
    buf_free(&rest);
}

static void edit_stream(struct input *in, const struct op *op)
{
    struct buf good = { 0 };
    size_t n;
    put_to_coordinator(&good);
    put_setup(&good, "cuda");
    put_render(&good, op);
    put_to_worker(&good, op);
    must(take_stream(good.data, good.len, op));
    char *edited = input_edits(in, good.data, good.len, &n);
    take_stream(edited, n, op);
    free(edited);
    buf_free(&good);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    const struct op *op = sample_op(&sample);
    uint8_t kind = input_byte(&in);
    if (kind == 'r')
        take_stream((const char *)in.at, in.left, op);
    else if (kind == 'w')
        converse(&in, op);
    else
        edit_stream(&in, op);
    return 0;
}
