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

/* All that a message may hold. */
static void put_message(struct buf *out, const struct op *op, enum frame_kind kind)
{
    double samples[] = { 999, 1000, 1001 };
    struct message m = { .kind = kind,
                         .number = kind == F_HELLO ? WIRE_VERSION : 1,
                         .standing = DOUBTFUL,
                         .text = "tile.cu:1: wrong",
                         .key = "0123456789abcdef0123456789abcdef",
                         .compiler = "NVRTC 13.0",
                         .ms = 12.5,
                         .facts = { .reference_ns = 2000, .copy_ns = 1000 },
                         .source = { "source", 6 },
                         .binary = { "binary", 6 },
                         .ncandidates = 2,
                         .candidates[1] = { .binary = "binary", .binary_bytes = 6 },
                         .nresults = 2 };
    for (int i = 0; i < 2; i++) {
        m.results[i] = (struct result){ .nsamples = 3, .samples = samples, .resources = { 32, 1024, 0, 512 } };
        must(stats_of(samples, 3, &m.results[i].stats, NULL) == 0);
    }
    message_put(out, op, &m);
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

static void check_config(const struct config *c, const struct op *op)
{
    must(c->variant >= 0 && c->variant < op->nvariants);
    for (int i = 0; i < op->variants[c->variant].nparams; i++)
        must(c->at[i] < op->variants[c->variant].params[i].n);
}

static void check_bytes(const void *at, size_t n)
{
    unsigned sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ((const unsigned char *)at)[i];
    must(sum <= n * 255);
}

static void check_result(const struct result *r)
{
    must(r->outcome < OUT_COUNT && memchr(r->reason, 0, sizeof r->reason));
    double sum = 0;
    for (int i = 0; i < r->nsamples; i++)
        sum += r->samples[i];
    must(sum >= 0);
}

static bool take_message(enum frame_kind kind, struct cursor *in, const struct op *op)
{
    struct message m;
    struct err err = { 0 };
    int rc = message_get(kind, in, op, &m, &err);
    must_say(rc, &err);
    if (rc)
        return false;
    must(m.kind == kind && m.outcome < OUT_COUNT && m.standing <= NO_VERDICT);
    must(memchr(m.text, 0, sizeof m.text) && memchr(m.key, 0, sizeof m.key) && memchr(m.compiler, 0, sizeof m.compiler));
    must(m.ncandidates >= 0 && m.ncandidates <= MAX_PLAYERS && m.nresults >= 0 && m.nresults <= MAX_PLAYERS);
    check_bytes(m.source.at, m.source.n);
    check_bytes(m.binary.at, m.binary.n);
    check_bytes(m.portable.at, m.portable.n);
    for (int i = 0; i < m.ncandidates; i++) {
        check_config(&m.candidates[i].config, op);
        check_bytes(m.candidates[i].binary, m.candidates[i].binary_bytes);
    }
    for (int i = 0; i < m.nresults; i++)
        check_result(&m.results[i]);
    message_free(&m);
    return true;
}

static bool take_task(struct cursor *in)
{
    struct task t;
    struct err err = { 0 };
    int rc = task_get(in, &t, &err);
    must_say(rc, &err);
    if (rc)
        return false;
    must(t.row < t.op->nrows && memchr(t.dev.backend, 0, sizeof t.dev.backend) && memchr(t.dev.name, 0, sizeof t.dev.name));
    op_free(t.op);
    return true;
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
        good = (f.kind == F_SETUP ? take_task(&f.body) : take_message((enum frame_kind)f.kind, &f.body, op)) && good;
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
        put_message(&rest, op, F_RENDER);
        put_message(&rest, op, F_COMPILE);
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
    put_setup(&good, "cuda");
    for (int kind = F_HELLO; kind <= F_RESULT; kind++)
        if (kind != F_SETUP)
            put_message(&good, op, (enum frame_kind)kind);
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
