/* Workers: their frames, and every way to end. Each end is reported once, with a line that says how, and leaves nothing behind.
 * The workers of this test are this program itself, started again as `test_worker worker KIND`. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "sample_op.h"
#include "unit.h"
#include "worker/child.h"
#include "worker/worker.h"

/* -- frames -- */

static void a_frame_is_taken_when_it_is_whole(void **state)
{
    (void)state;
    struct buf b = { 0 };
    size_t f = frame_begin(&b, F_RESULT);
    buf_lstr(&b, "first");
    frame_end(&b, f);
    size_t first = b.len;
    frame_end(&b, frame_begin(&b, F_ALIVE)); /* no body */
    assert_int_equal(first, 4 + 1 + 4 + 5);
    for (size_t n = 0; n <= b.len; n++) {
        struct frame got = { .kind = F_HELLO, .bytes = 77 };
        size_t len;
        char *part = malloc(n + !n); /* of just that length, for AddressSanitizer */
        assert_non_null(part);
        memcpy(part, b.data, n);
        assert_int_equal(frame_take(part, n, &got, NULL), 0);
        assert_int_equal(got.bytes, n < first ? 0 : first);
        if (got.bytes) {
            assert_int_equal(got.kind, F_RESULT);
            const char *text = get_lstr(&got.body, &len);
            assert_true(text && len == 5 && !memcmp(text, "first", 5));
            assert_ptr_equal(got.body.at, got.body.end);
        }
        free(part);
    }
    struct frame got;
    assert_int_equal(frame_take(b.data + first, b.len - first, &got, NULL), 0);
    assert_int_equal(got.kind, F_ALIVE);
    assert_int_equal(got.bytes, 5);
    assert_ptr_equal(got.body.at, got.body.end);
    buf_free(&b);
}

static void a_length_that_no_frame_has_is_refused(void **state)
{
    (void)state;
    static const uint32_t lengths[] = { 0, (uint32_t)FRAME_MAX + 1, 0x80000000u, UINT32_MAX };
    for (int i = 0; i < 4; i++) {
        struct buf b = { 0 };
        struct err err = { 0 };
        struct frame got;
        buf_u32(&b, lengths[i]);
        assert_int_equal(frame_take(b.data, b.len, &got, &err), ERR_CORRUPT);
        assert_int_equal(got.bytes, 0);
        buf_clear(&b);
        buf_u32(&b, FRAME_MAX);
        assert_int_equal(frame_take(b.data, b.len, &got, &err), 0); /* large, but it may come */
        assert_int_equal(got.bytes, 0);
        buf_free(&b);
    }
}

static void a_frame_without_memory_shows_at_its_end(void **state)
{
    (void)state;
    for (long nth = 0; nth < 2; nth++) {
        struct buf b = { 0 };
        char text[100] = "";
        mem_fail_at(nth);
        size_t f = frame_begin(&b, F_RENDER);
        buf_put(&b, text, sizeof text);
        frame_end(&b, f);
        mem_fail_at(-1);
        assert_true(b.failed);
        buf_free(&b);
    }
}

static const struct devspec a_device = {
    .backend = "null", .name = "Pretend device", .arch = "null", .memory = 1 << 30, .max_threads = 1024, .warp = 32
};

static void put_task(struct buf *b, const struct op *op, int row)
{
    task_put(b, &(struct task){ .home = "/some/home",
                                .op = (struct op *)op,
                                .problem = { .size = { 7, 5, 1 } },
                                .row = row,
                                .dev = a_device,
                                .warm = true });
    assert_false(b->failed);
}

static void a_task_comes_back(void **state)
{
    (void)state;
    static struct sample sample;
    struct buf b = { 0 };
    struct task t;
    struct err err = { 0 };
    put_task(&b, sample_op(&sample), 2);
    struct cursor in = cursor_on(b.data, b.len);
    assert_int_equal(task_get(&in, &t, &err), 0);
    assert_ptr_equal(in.at, in.end);
    assert_string_equal(t.home, "/some/home");
    assert_string_equal(t.op->name, "sample");
    assert_int_equal(t.problem.size[0], 7);
    assert_int_equal(t.problem.size[2], 1);
    assert_int_equal(t.row, 2);
    assert_true(t.warm);
    assert_true(devspec_same(&t.dev, &a_device));
    op_free(t.op);
    buf_free(&b);
}

static void refuse_task(const char *data, size_t n)
{
    struct task t;
    struct err err = { 0 };
    char *part = malloc(n + !n);
    assert_non_null(part);
    memcpy(part, data, n);
    struct cursor in = cursor_on(part, n);
    assert_true(task_get(&in, &t, &err) < 0);
    assert_true(err.msg[0] != 0);
    assert_true(!t.op && !t.home); /* nothing to free */
    free(part);
}

static void a_task_that_is_cut_or_out_of_range_is_refused(void **state)
{
    (void)state;
    static struct sample sample;
    const struct op *op = sample_op(&sample);
    struct buf b = { 0 };
    put_task(&b, op, 0);
    for (size_t n = 0; n < b.len; n++)
        refuse_task(b.data, n);
    buf_clear(&b);
    put_task(&b, op, op->nrows);
    refuse_task(b.data, b.len);
    buf_clear(&b);
    put_task(&b, op, -1);
    refuse_task(b.data, b.len);
    buf_free(&b);
}

static void a_task_without_memory_leaves_nothing(void **state)
{
    (void)state;
    static struct sample sample;
    struct buf b = { 0 };
    put_task(&b, sample_op(&sample), 0);
    int rc = ERR_NOMEM;
    for (long nth = 0; rc; nth++) {
        struct task t;
        struct err err = { 0 };
        struct cursor in = cursor_on(b.data, b.len);
        mem_fail_at(nth);
        rc = task_get(&in, &t, &err);
        mem_fail_at(-1);
        assert_true(rc == 0 || rc == ERR_NOMEM);
        assert_true(nth > 0 || rc);
        op_free(t.op);
    }
    buf_free(&b);
}

/* -- the workers: what `worker KIND` does -- */

static void say(struct channel *c, enum frame_kind kind, const char *text)
{
    size_t f = frame_begin(&c->out, kind);
    buf_lstr(&c->out, text);
    frame_end(&c->out, f);
    if (channel_send(c, NULL, NULL))
        _exit(9);
}

static void say_raw(const void *p, size_t n)
{
    if (send(CHILD_FD, p, n, MSG_NOSIGNAL) != (ssize_t)n)
        _exit(9);
}

/* Says everything back until the other side is gone. */
static int echo(struct channel *c)
{
    struct frame got;
    say(c, F_HELLO, "hello");
    while (!channel_next(c, NULL, &got, NULL)) {
        size_t f = frame_begin(&c->out, got.kind);
        buf_put(&c->out, got.body.at, (size_t)(got.body.end - got.body.at));
        frame_end(&c->out, f);
        if (channel_send(c, NULL, NULL))
            return 9;
    }
    return 0;
}

static int piecemeal(struct channel *c)
{
    size_t f = frame_begin(&c->out, F_RESULT);
    buf_lstr(&c->out, "in pieces");
    frame_end(&c->out, f);
    for (size_t i = 0; i < c->out.len; i++) {
        say_raw(c->out.data + i, 1);
        usleep(2000);
    }
    return 0;
}

static int many(struct channel *c)
{
    for (int i = 0; i < 20000; i++) {
        size_t f = frame_begin(&c->out, F_ALIVE);
        frame_end(&c->out, f);
    }
    return channel_send(c, NULL, NULL) ? 9 : 0;
}

static int last_words(void)
{
    char line[1000];
    memset(line, '.', sizeof line);
    line[sizeof line - 1] = '\n';
    for (int i = 0; i < 2000; i++)
        fwrite(line, 1, sizeof line, stderr);
    fprintf(stderr, "the last words\n \n");
    fflush(stderr);
    return 3;
}

/* Ends, but a process of its own keeps socket and stderr open for longer than anybody wants to wait. */
enum { HEIR_S = 60 };

static int leave_an_heir(void)
{
    if (fork() == 0) {
        sleep(HEIR_S);
        _exit(0);
    }
    return 4;
}

static void wait_for_ever(void)
{
    for (;;)
        pause();
}

static int be_worker(const char *kind)
{
    struct channel c = { .fd = CHILD_FD };
    const struct rlimit no_core = { 0, 0 };
    setrlimit(RLIMIT_CORE, &no_core);
    int code = 0;
    if (!strcmp(kind, "echo")) {
        code = echo(&c);
    } else if (!strcmp(kind, "piecemeal")) {
        code = piecemeal(&c);
    } else if (!strcmp(kind, "many")) {
        code = many(&c);
    } else if (!strcmp(kind, "exits")) {
        code = 7;
    } else if (!strcmp(kind, "explains")) {
        fprintf(stderr, "first line\nit is ");
        usleep(50000); /* in two reads */
        fprintf(stderr, "the disk\n");
        code = 1;
    } else if (!strcmp(kind, "killed")) {
        raise(SIGKILL);
    } else if (!strcmp(kind, "silent")) {
        wait_for_ever();
    } else if (!strcmp(kind, "stops")) {
        raise(SIGSTOP);
    } else if (!strcmp(kind, "naps")) {
        raise(SIGSTOP);
        usleep(20000);
        say(&c, F_HELLO, "hello");
        wait_for_ever();
    } else if (!strcmp(kind, "greets")) { /* a stop that can be waited for says that it has spoken */
        say(&c, F_HELLO, "hello");
        raise(SIGSTOP);
        wait_for_ever();
    } else if (!strcmp(kind, "no-frame")) {
        say(&c, F_HELLO, "hello");
        say_raw("\0\0\0\0", 4);
        wait_for_ever();
    } else if (!strcmp(kind, "wild-length")) {
        say_raw("GET / HTTP/1.1\r\n\r\n", 18);
        wait_for_ever();
    } else if (!strcmp(kind, "half-a-frame")) {
        say_raw("\x40\0\0\0\1abc", 8);
    } else if (!strcmp(kind, "last-words")) {
        code = last_words();
    } else if (!strcmp(kind, "hangs-up")) {
        say(&c, F_HELLO, "hello");
        close(CHILD_FD);
        wait_for_ever();
    } else if (!strcmp(kind, "heir")) {
        code = leave_an_heir();
    } else {
        code = 99;
    }
    channel_close(&c);
    return code;
}

/* -- what the coordinator sees of them -- */

struct seen {
    int frames, gone;
    enum frame_kind last_kind;
    char last[64]; /* its text */
    bool late;
    char why[512];
    int64_t deadline_ms;                                 /* given at the start, and again at each frame; 0: none */
    int64_t start_ms;                                    /* if not 0, the one that is given at the start */
    void (*answer)(struct seen *seen, struct worker *w); /* at each frame; may be null */
};

static void on_frame(void *arg, struct worker *w, enum frame_kind kind, struct cursor *body)
{
    struct seen *seen = arg;
    size_t n;
    const char *text = get_lstr(body, &n);
    assert_int_equal(seen->gone, 0);
    seen->frames++;
    seen->last_kind = kind;
    snprintf(seen->last, sizeof seen->last, "%.*s", text ? (int)n : 0, text ? text : "");
    if (seen->deadline_ms)
        worker_deadline(w, seen->deadline_ms);
    if (seen->answer)
        seen->answer(seen, w);
}

static void on_gone(void *arg, struct worker *w, bool deadline, const char *why)
{
    struct seen *seen = arg;
    (void)w;
    seen->gone++;
    seen->late = deadline;
    snprintf(seen->why, sizeof seen->why, "%s", why);
}

static const struct worker_events events = { .frame = on_frame, .gone = on_gone };

static struct worker *start(uv_loop_t *loop, const char *kind, struct seen *seen)
{
    struct worker *w;
    struct err err = { 0 };
    assert_int_equal(uv_loop_init(loop), 0);
    if (worker_start(loop, "/proc/self/exe", kind, &events, seen, &w, &err))
        fail_msg("%s", err.msg);
    worker_deadline(w, seen->start_ms ? seen->start_ms : seen->deadline_ms);
    return w;
}

/* Until nothing is left of it: no handle, no process. */
static void end(uv_loop_t *loop, const struct seen *seen)
{
    assert_int_equal(uv_run(loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(loop), 0);
    assert_int_equal(seen->gone, 1);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

enum { SHORT = 300, LONG = 60000 }; /* ms: for those that will pass it, and those that will not */

/* A short deadline is for who speaks and then falls silent: how long its start takes is the machine's business. */
static struct seen observe(const char *kind, int64_t deadline_ms, void (*answer)(struct seen *seen, struct worker *w))
{
    bool speaks = strcmp(kind, "silent") != 0 && strcmp(kind, "stops") != 0;
    struct seen seen = { .deadline_ms = deadline_ms, .start_ms = deadline_ms && speaks ? LONG : 0, .answer = answer };
    uv_loop_t loop;
    start(&loop, kind, &seen);
    end(&loop, &seen);
    return seen;
}

static void send_text(struct worker *w, const char *text)
{
    struct buf out = { 0 };
    size_t f = frame_begin(&out, F_RENDER);
    buf_lstr(&out, text);
    frame_end(&out, f);
    worker_send(w, &out);
}

static void talk(struct seen *seen, struct worker *w)
{
    char text[32];
    if (seen->frames > 1) {
        snprintf(text, sizeof text, "word %d", seen->frames - 1);
        assert_string_equal(seen->last, text);
        assert_int_equal(seen->last_kind, F_RENDER);
    }
    snprintf(text, sizeof text, "word %d", seen->frames);
    if (seen->frames <= 5)
        send_text(w, text);
    else
        worker_kill(w);
}

static void a_worker_answers(void **state)
{
    (void)state;
    struct seen seen = observe("echo", LONG, talk);
    assert_int_equal(seen.frames, 6);
    assert_false(seen.late);
    assert_non_null(strstr(seen.why, "killed by signal 9"));
}

static void frames_come_in_pieces_and_in_heaps(void **state)
{
    (void)state;
    struct seen seen = observe("piecemeal", LONG, NULL);
    assert_int_equal(seen.frames, 1);
    assert_int_equal(seen.last_kind, F_RESULT);
    assert_string_equal(seen.last, "in pieces");
    assert_string_equal(seen.why, "its worker exited with 0");
    seen = observe("many", LONG, NULL);
    assert_int_equal(seen.frames, 20000);
}

static void each_end_has_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        int64_t deadline_ms;
        int frames;
        bool late;
        const char *why;
    } ends[] = {
        { "exits", LONG, 0, false, "its worker exited with 7" },
        { "explains", LONG, 0, false, "its worker exited with 1: it is the disk" },
        { "killed", LONG, 0, false, "its worker was killed by signal 9 (Killed)" },
        { "last-words", LONG, 0, false, "its worker exited with 3: the last words" },
        { "half-a-frame", LONG, 0, false, "its worker exited with 0" },
        { "no-frame", LONG, 1, false, "its worker spoke garbage" },
        { "wild-length", LONG, 0, false, "its worker spoke garbage" },
        { "silent", SHORT, 0, true, "past its deadline of 0.3 s" },
        { "stops", SHORT, 0, true, "past its deadline of 0.3 s" },
        { "hangs-up", SHORT, 1, true, "past its deadline of 0.3 s" },
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct seen seen = observe(ends[i].kind, ends[i].deadline_ms, NULL);
        if (strcmp(seen.why, ends[i].why) != 0 || seen.late != ends[i].late || seen.frames != ends[i].frames)
            fail_msg("%s: '%s', %s, %d frames", ends[i].kind, seen.why, seen.late ? "late" : "not late", seen.frames);
    }
}

/* With a deadline and without one. */
static void an_heir_keeps_nobody_waiting(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        int64_t begin = clock_ns();
        struct seen seen = observe("heir", i ? LONG : 0, NULL);
        assert_string_equal(seen.why, "its worker exited with 4");
        assert_false(seen.late);
        assert_true(clock_ns() - begin < (HEIR_S - 5) * INT64_C(1000000000));
    }
}

static void disbelieve(struct seen *seen, struct worker *w)
{
    (void)seen;
    worker_garbage(w);
}

static void the_coordinator_may_call_it_garbage(void **state)
{
    (void)state;
    struct seen seen = observe("echo", LONG, disbelieve);
    assert_int_equal(seen.frames, 1);
    assert_string_equal(seen.why, "its worker spoke garbage");
    seen = observe("many", LONG, disbelieve); /* what comes after it is not heard */
    assert_int_equal(seen.frames, 1);
    assert_string_equal(seen.why, "its worker spoke garbage");
}

/* Returns when a child has stopped, with its process. */
static pid_t stopped(void)
{
    siginfo_t info;
    assert_int_equal(waitid(P_ALL, 0, &info, WSTOPPED | WNOWAIT), 0);
    return info.si_pid;
}

/* The loop runs for longer than a short deadline. */
static void let_pass(uv_loop_t *loop)
{
    for (int64_t begin = clock_ns(); clock_ns() - begin < 2 * SHORT * INT64_C(1000000);) {
        uv_run(loop, UV_RUN_NOWAIT);
        usleep(5000);
    }
}

/* Each frame ends it, and so does 0; none of them is given again here. */
static void a_deadline_can_end(void **state)
{
    (void)state;
    struct seen seen = { 0 };
    uv_loop_t loop;
    struct worker *w = start(&loop, "greets", &seen);
    stopped(); /* it has spoken, and was not heard */
    worker_deadline(w, SHORT);
    while (!seen.frames && !seen.gone)
        uv_run(&loop, UV_RUN_ONCE);
    let_pass(&loop);
    worker_deadline(w, SHORT);
    worker_deadline(w, 0);
    let_pass(&loop);
    assert_int_equal(seen.gone, 0);
    worker_kill(w);
    worker_kill(w);
    end(&loop, &seen);
    assert_false(seen.late);
}

static void thank(struct seen *seen, struct worker *w)
{
    (void)seen;
    worker_kill(w);
}

/* It spoke in time, and was not heard; or it was stopped with the rest and had no time. */
static void a_loop_that_was_away_condemns_nobody(void **state)
{
    (void)state;
    struct seen seen = { .deadline_ms = SHORT, .answer = thank };
    uv_loop_t loop;
    start(&loop, "greets", &seen);
    stopped();
    usleep(2 * SHORT * 1000);
    end(&loop, &seen);
    assert_int_equal(seen.frames, 1);
    assert_false(seen.late);

    seen = (struct seen){ .deadline_ms = 2000, .answer = thank };
    start(&loop, "naps", &seen);
    pid_t napping = stopped();
    usleep(2500000);
    assert_int_equal(kill(napping, SIGCONT), 0);
    end(&loop, &seen);
    assert_int_equal(seen.frames, 1);
    assert_false(seen.late);
}

/* What waits to be sent to a worker that does not read is let go with it. */
static void a_deaf_worker_costs_nothing(void **state)
{
    (void)state;
    struct seen seen = { .deadline_ms = SHORT };
    uv_loop_t loop;
    struct worker *w = start(&loop, "silent", &seen);
    for (int i = 0; i < 4; i++) {
        struct buf out = { 0 };
        size_t f = frame_begin(&out, F_RUN);
        for (int k = 0; k < 1000; k++)
            buf_put(&out, (char[1000]){ 0 }, 1000);
        frame_end(&out, f);
        worker_send(w, &out);
    }
    end(&loop, &seen);
    assert_true(seen.late);
}

/* Sent to one that has ended, before the loop has seen that it did. */
static void words_to_the_dead_are_lost(void **state)
{
    (void)state;
    struct seen seen = { .deadline_ms = LONG };
    uv_loop_t loop;
    siginfo_t info;
    struct worker *w = start(&loop, "exits", &seen);
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    send_text(w, "are you there?");
    worker_kill(w);
    send_text(w, "hello?");
    end(&loop, &seen);
    assert_string_equal(seen.why, "its worker exited with 7");
}

static void a_worker_without_memory_is_let_go(void **state)
{
    (void)state;
    struct seen seen = { .deadline_ms = LONG };
    uv_loop_t loop;
    struct worker *w = start(&loop, "echo", &seen);
    struct buf out = { 0 };
    frame_end(&out, frame_begin(&out, F_RENDER));
    mem_fail_at(0);
    worker_send(w, &out);
    mem_fail_at(-1);
    end(&loop, &seen);
    assert_non_null(strstr(seen.why, "killed by signal 9"));
}

static void a_program_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct worker *w = NULL;
    struct err err = { 0 };
    struct seen seen = { 0 };
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(worker_start(&loop, "/no/such/program", "compile", &events, &seen, &w, &err), ERR_IO);
    assert_non_null(strstr(err.msg, "/no/such/program worker compile"));
    mem_fail_at(0);
    assert_int_equal(worker_start(&loop, "/proc/self/exe", "echo", &events, &seen, &w, &err), ERR_NOMEM);
    mem_fail_at(-1);
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_int_equal(seen.gone, 0);
}

/* Many at once, each with an end of its own. */
static void workers_do_not_mind_each_other(void **state)
{
    (void)state;
    static const char *const kinds[] = { "exits", "echo", "silent", "wild-length", "last-words", "stops", "many", "killed" };
    enum { N = 8 };
    struct seen seen[N] = { 0 };
    struct err err = { 0 };
    uv_loop_t loop;
    assert_int_equal(uv_loop_init(&loop), 0);
    for (int i = 0; i < N; i++) {
        struct worker *w;
        seen[i].deadline_ms = LONG;
        seen[i].answer = !strcmp(kinds[i], "echo") ? talk : NULL;
        assert_int_equal(worker_start(&loop, "/proc/self/exe", kinds[i], &events, &seen[i], &w, &err), 0);
        worker_deadline(w, !strcmp(kinds[i], "silent") || !strcmp(kinds[i], "stops") ? SHORT : LONG);
    }
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&loop), 0);
    for (int i = 0; i < N; i++) {
        assert_int_equal(seen[i].gone, 1);
        assert_int_equal(seen[i].late, !strcmp(kinds[i], "silent") || !strcmp(kinds[i], "stops"));
    }
    assert_int_equal(seen[1].frames, 6);
    assert_int_equal(seen[6].frames, 20000);
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "worker"))
        return be_worker(argv[2]);
    signal(SIGPIPE, SIG_IGN); /* as worker.h asks */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_is_taken_when_it_is_whole),
        cmocka_unit_test(a_length_that_no_frame_has_is_refused),
        cmocka_unit_test(a_frame_without_memory_shows_at_its_end),
        cmocka_unit_test(a_task_comes_back),
        cmocka_unit_test(a_task_that_is_cut_or_out_of_range_is_refused),
        cmocka_unit_test(a_task_without_memory_leaves_nothing),
        cmocka_unit_test(a_worker_answers),
        cmocka_unit_test(frames_come_in_pieces_and_in_heaps),
        cmocka_unit_test(each_end_has_its_line),
        cmocka_unit_test(an_heir_keeps_nobody_waiting),
        cmocka_unit_test(the_coordinator_may_call_it_garbage),
        cmocka_unit_test(a_deadline_can_end),
        cmocka_unit_test(a_loop_that_was_away_condemns_nobody),
        cmocka_unit_test(a_deaf_worker_costs_nothing),
        cmocka_unit_test(words_to_the_dead_are_lost),
        cmocka_unit_test(a_worker_without_memory_is_let_go),
        cmocka_unit_test(a_program_that_is_not_there_is_an_error),
        cmocka_unit_test(workers_do_not_mind_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
