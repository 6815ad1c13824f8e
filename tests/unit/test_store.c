/* The store: what is written is read back, even if others have the file open. */
#include "store_sample.h"

#include <signal.h>
#include <sys/wait.h>

/* ---- measurements ---- */

struct seen {
    int n;
    char keys[8][HASH_HEX];
    struct result last;
    double samples[8];
};

static int see(void *arg, const struct measured *m)
{
    struct seen *seen = arg;
    assert_string_equal(m->variant, "tile");
    strcpy(seen->keys[seen->n++], m->key);
    seen->last = m->result;
    for (int i = 0; i < m->result.nsamples; i++)
        seen->samples[i] = m->result.samples[i];
    return 0;
}

static int stop(void *arg, const struct measured *m)
{
    (void)m;
    return ++*(int *)arg == 2 ? 77 : 0;
}

static void keeps_measurements(void **state)
{
    (void)state;
    struct store *s = open_at("m.db", STORE_WRITE);
    struct devspec dev = sample_device();
    struct problem p = { { 1111, 113 } };
    struct target cold, warm, again;
    assert_int_equal(store_target(s, &dev, sample_op(), &p, 1, true, &cold, NULL), 0);
    assert_int_equal(store_target(s, &dev, sample_op(), &p, 1, false, &warm, NULL), 0);
    strcpy(dev.uuid, "GPU-2"); /* another card of the kind shares the records */
    assert_int_equal(store_target(s, &dev, sample_op(), &p, 1, true, &again, NULL), 0);
    assert_true(again.device == cold.device && again.problem == cold.problem && again.provenance != cold.provenance);

    struct measured a = measurement('a', "{\"TILE\":8}"), b = measurement('b', "{\"TILE\":64}");
    double samples[] = { 3.5, 2.25, 1e9 };
    a.result.outcome = OUT_COMPILE_ERROR;
    strcpy(a.result.reason, "t.cu:3: \x1b[1mno such thing\there");
    b.result = (struct result){ .outcome = OUT_OK,
                                .nsamples = 3,
                                .samples = samples,
                                .alone = true,
                                .compile_ms = 23.5,
                                .resources = { 40, 4224, 8, 1024 },
                                .sm_mhz = 1980,
                                .mem_mhz = 3201 };
    assert_int_equal(stats_of(samples, 3, &b.result.stats, NULL), 0);
    assert_int_equal(store_measured(s, &cold, &a, NULL) | store_measured(s, &cold, &b, NULL), 0);
    assert_int_equal(store_measured(s, &warm, &b, NULL), 0);

    struct seen seen = { 0 };
    assert_int_equal(store_each_measured(s, &cold, see, &seen, NULL), 0);
    assert_int_equal(seen.n, 2);
    assert_string_equal(seen.keys[0], a.key);
    assert_string_equal(seen.keys[1], b.key);
    assert_int_equal(seen.last.nsamples, 3);
    assert_memory_equal(seen.samples, samples, sizeof samples);
    assert_memory_equal(&seen.last.stats, &b.result.stats, sizeof(struct stats));
    assert_int_equal(seen.last.resources.registers, 40);
    assert_int_equal(seen.last.sm_mhz, 1980);
    assert_true(seen.last.compile_ms == 23.5 && seen.last.alone);

    a.result.outcome = OUT_TIMEOUT; /* stored again: replaced, in its old place */
    assert_int_equal(store_measured(s, &cold, &a, NULL), 0);
    memset(&seen, 0, sizeof seen);
    assert_int_equal(store_each_measured(s, &cold, see, &seen, NULL), 0);
    assert_int_equal(seen.n, 2);
    assert_string_equal(seen.keys[0], a.key);
    int count = 0;
    assert_int_equal(store_each_measured(s, &cold, stop, &count, NULL), 77);

    assert_int_equal(store_forget(s, &cold, NULL), 0);
    memset(&seen, 0, sizeof seen);
    assert_int_equal(store_each_measured(s, &cold, see, &seen, NULL), 0);
    assert_int_equal(seen.n, 0);
    assert_int_equal(store_each_measured(s, &warm, see, &seen, NULL), 0);
    assert_int_equal(seen.n, 1);

    struct err err = { 0 };
    a.result.resources.registers = -7; /* out of range: refused, and nothing is left half done */
    assert_int_equal(store_measured(s, &cold, &a, &err), ERR_INVALID);
    assert_non_null(strstr(err.msg, "not stored"));
    a.result.resources.registers = 7;
    assert_int_equal(store_measured(s, &cold, &a, NULL), 0);
    store_close(s);
}

/* Killed in the middle: what had been stored is there. */
static void outlives_kill(void **state)
{
    (void)state;
    int pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    store_close(open_at("k.db", STORE_WRITE));
    pid_t child = fork();
    if (!child) {
        struct store *s = open_at("k.db", STORE_WRITE);
        for (int64_t i = 1;; i++) {
            sample_winner(s, i, i);
            if (write(pipe_ends[1], "x", 1) != 1)
                _exit(1);
        }
    }
    char done[20];
    for (size_t n = 0; n < sizeof done;)
        n += (size_t)read(pipe_ends[0], done, sizeof done - n);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    struct store *s = open_at("k.db", STORE_READ);
    for (int i = 1; i <= 20; i++) {
        char problem[32];
        struct tuned *t;
        struct err err = { 0 };
        snprintf(problem, sizeof problem, "m=%d,n=%d", i, i);
        if (find_winner(s, problem, &t, &err))
            fail_msg("%s", err.msg);
        tuned_free(t);
    }
    store_close(s);
}

/* Several processes make the file and write to it at once: each waits for its turn. */
static void takes_turns(void **state)
{
    (void)state;
    enum { WRITERS = 4, EACH = 10 };
    for (int w = 0; w < WRITERS; w++) {
        if (fork())
            continue;
        struct store *s = open_at("t.db", STORE_WRITE);
        for (int i = 1; i <= EACH; i++)
            sample_winner(s, w + 1, i);
        store_close(s);
        _exit(0);
    }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(ask_number("t.db", "SELECT count(*) FROM tuned"), WRITERS * EACH);
    assert_int_equal(ask_number("t.db", "SELECT count(*) FROM device"), 1);
    assert_int_equal(ask_number("t.db", "SELECT count(*) FROM code"), 1); /* one kernel, many problems */
}

/* ---- kernels ---- */

static void same_text(const char *a, const char *b)
{
    if (a && b)
        assert_string_equal(a, b);
    else
        assert_true(a == b);
}

static void same_tuned(const struct tuned *a, const struct tuned *b)
{
    struct buf x = { 0 }, y = { 0 };
    assert_string_equal(a->key, b->key);
    assert_string_equal(a->variant, b->variant);
    assert_string_equal(a->config, b->config);
    assert_string_equal(a->json, b->json);
    assert_true(a->time_ns == b->time_ns && a->copy_ns == b->copy_ns);
    assert_string_equal(a->source, b->source);
    assert_int_equal(a->binary_bytes, b->binary_bytes);
    if (a->binary)
        assert_memory_equal(a->binary, b->binary, a->binary_bytes);
    same_text(a->format, b->format);
    same_text(a->arch, b->arch);
    same_text(a->compiler, b->compiler);
    op_put(&x, a->op); /* all of the op is in its bytes */
    op_put(&y, b->op);
    assert_int_equal(x.len, y.len);
    assert_memory_equal(x.data, y.data, x.len);
    buf_free(&x);
    buf_free(&y);
}

static void keeps_winners(void **state)
{
    (void)state;
    struct store *s = open_at("w.db", STORE_WRITE);
    struct target t = sample_winner(s, 1111, 113);
    struct config c = sample_config(2, 1);
    struct tuned *k = sample_tuned(&c, 800), *back;
    k->op->variants->requires = (struct requires){ .backend = "cuda", .cc = 80 };
    assert_int_equal(store_winner(s, &t, k, NULL), 0); /* instead of the sample's */
    struct err err = { 0 };
    if (find_winner(s, "m=1111,n=113", &back, &err))
        fail_msg("%s", err.msg);
    same_tuned(k, back);
    assert_int_equal(back->role, TUNED_WINNER);
    assert_int_equal(strlen(back->when), 20);
    tuned_free(back);

    k->binary = NULL; /* source only */
    k->binary_bytes = 0;
    k->format = k->arch = k->compiler = NULL;
    assert_int_equal(store_winner(s, &t, k, NULL), 0);
    assert_int_equal(find_winner(s, "m=1111,n=113", &back, NULL), 0);
    same_tuned(k, back);
    tuned_free(back);
    tuned_free(k);
    assert_int_equal(ask_number("w.db", "SELECT count(*) FROM tuned"), 1);
    assert_int_equal(ask_number("w.db", "SELECT count(*) FROM code"), 1); /* nothing of the replaced */
    assert_int_equal(ask_number("w.db", "SELECT config ->> 'TILE' = 64 AND config ->> 'GRID' = 'x' FROM tuned"), 1);

    assert_int_equal(find_winner(s, "m=1111,n=114", &back, &err), ERR_NOTFOUND);
    struct devspec other = sample_device();
    other.multiprocessors = 114;
    assert_int_equal(store_find_winner(s, &other, "transpose", "f32", "m=1111,n=113", &back, &err), ERR_NOTFOUND);
    assert_int_equal(store_forget(s, &t, NULL), 0);
    assert_int_equal(find_winner(s, "m=1111,n=113", &back, &err), ERR_NOTFOUND);
    assert_int_equal(ask_number("w.db", "SELECT count(*) FROM code"), 0);
    store_close(s);
}

/* A long text is packed where that is shorter; what comes back is the same. */
static void packs_long_texts(void **state)
{
    (void)state;
    struct store *s = open_at("p.db", STORE_WRITE);
    struct target t = sample_winner(s, 1111, 113);
    struct config c = sample_config(2, 1);
    struct tuned *k = sample_tuned(&c, 800), *back;
    struct buf lines = { 0 }, noise = { 0 };
    uint32_t seed = 1;
    for (int i = 0; i < 2000; i++) {
        buf_fmt(&lines, "void transpose_%d() {\n}\n", i);
        seed = seed * 1664525 + 1013904223;
        buf_fmt(&noise, "%c", 32 + (int)(seed >> 25) % 95);
    }
    k->source = buf_text(&lines);
    k->portable = buf_text(&noise);
    assert_int_equal(store_winner(s, &t, k, NULL), 0);
    assert_int_equal(find_winner(s, "m=1111,n=113", &back, NULL), 0);
    same_tuned(k, back);
    same_text(k->portable, back->portable);
    tuned_free(back);
    assert_int_equal(ask_number("p.db", "SELECT typeof(source) = 'blob' AND length(source) < 20000 FROM code"), 1);

    k->portable = "a short one";
    assert_int_equal(store_winner(s, &t, k, NULL), 0);
    assert_int_equal(find_winner(s, "m=1111,n=113", &back, NULL), 0);
    same_text(k->portable, back->portable);
    assert_int_equal(ask_number("p.db", "SELECT portable = 'a short one' FROM code"), 1);
    tuned_free(back);
    tuned_free(k);
    buf_free(&lines);
    buf_free(&noise);
    store_close(s);
}

static void prefers_cold_winners(void **state)
{
    (void)state;
    struct store *s = open_at("w.db", STORE_WRITE);
    struct devspec dev = sample_device();
    struct problem p = { { 7, 8 } };
    struct target warm;
    assert_int_equal(store_target(s, &dev, sample_op(), &p, 0, false, &warm, NULL), 0);
    struct config c = sample_config(0, 1);
    struct tuned *k = sample_tuned(&c, 10), *back;
    assert_int_equal(store_winner(s, &warm, k, NULL), 0);
    assert_int_equal(find_winner(s, "m=7,n=8", &back, NULL), 0);
    assert_true(back->time_ns == 10);
    tuned_free(back);
    sample_winner(s, 7, 8);
    assert_int_equal(find_winner(s, "m=7,n=8", &back, NULL), 0);
    assert_true(back->time_ns == 1000);
    tuned_free(back);
    tuned_free(k);
    store_close(s);
}

struct defaults_seen {
    struct store *s;
    int n;
};

static int same_default(void *arg, struct tuned *t)
{
    struct defaults_seen *seen = arg;
    struct config c = sample_config(0, seen->n);
    struct tuned *k = sample_tuned(&c, 0), *whole;
    assert_null(t->source);
    assert_string_equal(t->json, k->json);
    assert_int_equal(t->rank, seen->n);
    assert_int_equal(store_tuned(seen->s, t->id, &whole, NULL), 0);
    same_tuned(k, whole);
    assert_int_equal(whole->role, TUNED_DEFAULT);
    assert_int_equal(whole->rank, seen->n++);
    tuned_free(k);
    tuned_free(whole);
    tuned_free(t);
    return 0;
}

static void keeps_defaults(void **state)
{
    (void)state;
    struct store *s = open_at("d.db", STORE_WRITE);
    struct defaults_seen seen = { .s = s }, last = { .s = s, .n = 1 };
    sample_defaults(s);
    sample_defaults(s); /* replaced, not doubled */
    assert_int_equal(store_each_default(s, "cuda", "transpose", "f32", 0, same_default, &seen, NULL), 0);
    assert_int_equal(seen.n, 2);
    assert_int_equal(store_each_default(s, "cuda", "transpose", "f32", 1, same_default, &last, NULL), 0);
    assert_int_equal(last.n, 2);
    assert_int_equal(store_each_default(s, "opencl", "transpose", "f32", 0, same_default, &seen, NULL), 0);
    assert_int_equal(seen.n, 2);

    struct op shorter = *sample_op(); /* a list that became shorter leaves nothing behind it */
    struct config c = sample_config(0, 1);
    struct tuned *k = sample_tuned(&c, 0);
    struct devspec dev = sample_device();
    shorter.ndefaults = 1;
    assert_int_equal(store_default(s, &dev, &shorter, 0, k, NULL), 0);
    assert_int_equal(ask_number("d.db", "SELECT count(*) FROM tuned"), 1);
    tuned_free(k);
    store_close(s);
}

/* ---- ops ---- */

static void keeps_ops(void **state)
{
    (void)state;
    struct store *s = open_at("o.db", STORE_WRITE);
    struct err err = { 0 };
    struct op *op;
    assert_int_equal(store_op(s, "transpose", &op, &err), ERR_NOTFOUND);
    sample_defaults(s);
    if (store_op(s, "transpose", &op, &err))
        fail_msg("%s", err.msg);
    const struct op *was = sample_op();
    assert_int_equal(op->naxes, was->naxes);
    assert_string_equal(op->axes[1].name, "n");
    assert_int_equal(op->nrows, 2);
    assert_ptr_equal(op->rows[1], was->rows[1]);
    assert_int_equal(op->nargs, was->nargs);
    assert_string_equal(op->args[0].extent[1], "m");
    assert_int_equal(op->args[0].rank, 2);
    assert_string_equal(op->args[2].value, "m");
    assert_string_equal(op->args[2].type, "i64");
    assert_string_equal(op->work_bytes, was->work_bytes);
    assert_null(op->work_flops);
    op_free(op);
    store_close(s);
}

static int count_stale(void *arg, const struct listed *l)
{
    *(int *)arg += l->stale;
    return 0;
}

static void marks_what_a_change_made_stale(void **state)
{
    (void)state;
    struct store *s = open_at("s.db", STORE_WRITE);
    struct devspec dev = sample_device();
    struct problem p = { { 1111, 113 } };
    struct target t;
    struct tuned *back;
    struct op *read, changed = *sample_op(), wider = changed;
    struct arg args[4];
    const struct dtype *rows[3] = { dtype_find("f32"), dtype_find("i32"), dtype_find("f64") };
    int stale = 0;
    sample_winner(s, 1111, 113);

    wider.rows = rows; /* one type more: nothing becomes stale */
    wider.nrows = 3;
    assert_int_equal(store_target(s, &dev, &wider, &p, 2, true, &t, NULL), 0);
    assert_int_equal(find_winner(s, "m=1111,n=113", &back, NULL), 0);
    tuned_free(back);
    assert_int_equal(store_op(s, "transpose", &read, NULL), 0);
    assert_int_equal(read->nrows, 3);
    op_free(read);

    memcpy(args, changed.args, sizeof args); /* arguments in another order */
    args[0] = changed.args[1];
    args[1] = changed.args[0];
    changed.args = args;
    assert_int_equal(store_target(s, &dev, &changed, &p, 0, true, &t, NULL), 0);
    assert_int_equal(find_winner(s, "m=1111,n=113", &back, NULL), ERR_NOTFOUND);
    assert_int_equal(store_each_winner(s, count_stale, &stale, NULL), 0);
    assert_int_equal(stale, 1);
    assert_int_equal(store_op(s, "transpose", &read, NULL), 0);
    assert_string_equal(read->args[0].name, "in");
    op_free(read);

    assert_int_equal(store_target(s, &dev, sample_op(), &p, 0, true, &t, NULL), 0); /* changed back */
    assert_int_equal(find_winner(s, "m=1111,n=113", &back, NULL), 0);
    tuned_free(back);
    store_close(s);
}

/* Winners of every problem are what they were proved to be: by that check, against that reference, over those inputs. */
static void marks_what_another_contract_proved(void **state)
{
    (void)state;
    struct devspec dev = sample_device();
    struct problem p = { { 64, 64 } };
    struct tuned *back;
    struct target t;
    for (int way = 0; way < 6; way++) {
        struct store *s = open_at(way % 2 ? "a.db" : "b.db", STORE_WRITE);
        struct op changed = *sample_op(), *read;
        struct launch wider = { .grid = { "77" } };
        struct arg args[4];
        int stale = 0;
        memcpy(args, changed.args, sizeof args);
        changed.args = args;
        switch (way) {
        case 0:
            changed.check.kind = CHECK_SUM;
            changed.check.length = "2";
            break;
        case 1:
            changed.reference.template_name = "ref.cu";
            changed.reference.template_text = "KERNEL void ref() { }";
            break;
        case 2:
            args[1].fill = FILL_NUMBERS;
            break;
        case 3:
            args[0].partial = true;
            break;
        case 4:
            changed.reference.nlaunches = 1;
            changed.reference.launches = &wider;
            break;
        case 5:
            changed.check.kind = CHECK_SUM;
            changed.check.length = "1000000000";
            break;
        }
        sample_winner(s, 1111, 113);
        assert_int_equal(store_target(s, &dev, &changed, &p, 0, true, &t, NULL), 0);
        assert_int_equal(find_winner(s, "m=1111,n=113", &back, NULL), ERR_NOTFOUND);
        assert_int_equal(store_each_winner(s, count_stale, &stale, NULL), 0);
        assert_int_equal(stale, 1);
        assert_int_equal(store_op(s, "transpose", &read, NULL), 0);
        op_free(read);
        assert_int_equal(store_target(s, &dev, sample_op(), &p, 0, true, &t, NULL), 0); /* changed back */
        assert_int_equal(find_winner(s, "m=1111,n=113", &back, NULL), 0);
        tuned_free(back);
        store_close(s);
    }
}

struct tried_of {
    int fresh, stale;
    bool mixed; /* a stale one stands before another */
};

static int count_tried(void *arg, const struct listed *t)
{
    struct tried_of *n = arg;
    n->mixed = n->mixed || (n->stale && !t->stale);
    n->fresh += !t->stale;
    n->stale += t->stale;
    return 0;
}

static struct tried_of tried_of(struct store *s)
{
    struct tried_of n = { 0 };
    assert_int_equal(store_each_tried(s, count_tried, &n, NULL), 0);
    return n;
}

static int last_listed(void *arg, const struct listed *l)
{
    *(struct listed *)arg = *l;
    return 0;
}

/* A measurement is of the variant as it was. */
static void marks_what_another_source_was_measured_from(void **state)
{
    (void)state;
    struct store *s = open_at("s.db", STORE_WRITE);
    struct devspec dev = sample_device();
    struct problem p = { { 64, 64 } };
    struct op changed = *sample_op();
    struct variant tile = changed.variants[0], both[2] = { tile, tile };
    struct target here, t;
    struct listed l;
    char now[HASH_HEX];
    here = sample_winner(s, 1111, 113);
    struct measured m = measurement('a', "{\"TILE\":8,\"GRID\":\"xy\",\"PAD\":true,\"SCALE\":0.5}");
    m.made = NULL;
    assert_int_equal(store_measured(s, &here, &m, NULL), 0);
    assert_true(tried_of(s).fresh == 1 && tried_of(s).stale == 1);
    m.made = sample_made();
    assert_int_equal(store_measured(s, &here, &m, NULL), 0);
    assert_int_equal(tried_of(s).fresh, 2);

    tile.template_text = "another";
    changed.variants = &tile;
    assert_int_equal(variant_made(&changed, &tile, now, NULL), 0);
    assert_int_equal(store_target(s, &dev, &changed, &p, 0, true, &t, NULL), 0); /* another problem's run */
    assert_int_equal(tried_of(s).stale, 2);
    m = measurement('c', "{\"TILE\":8,\"GRID\":\"xy\",\"PAD\":true,\"SCALE\":0.5}");
    m.made = now;
    assert_int_equal(store_measured(s, &here, &m, NULL), 0);
    struct tried_of n = tried_of(s);
    assert_true(n.fresh == 1 && n.stale == 2 && !n.mixed);
    assert_int_equal(store_each_winner(s, last_listed, &l, NULL), 0);
    assert_true(l.changed && !l.stale && l.measured == 1);

    memset(m.key, 'a', HASH_HEX - 1); /* the same key comes of it */
    assert_int_equal(store_found_again(s, &here, m.key, now, NULL), 0);
    assert_int_equal(tried_of(s).fresh, 2);

    both[1].name = "more"; /* another variant is none of this one's business */
    changed.variants = both;
    changed.nvariants = 2;
    assert_int_equal(store_target(s, &dev, &changed, &p, 0, true, &t, NULL), 0);
    assert_int_equal(tried_of(s).fresh, 1); /* tile is as it was first, and so is the winner */
    assert_int_equal(store_each_winner(s, last_listed, &l, NULL), 0);
    assert_false(l.changed);
    tile.name = "renamed";
    changed.variants = &tile;
    changed.nvariants = 1;
    assert_int_equal(store_target(s, &dev, &changed, &p, 0, true, &t, NULL), 0);
    assert_int_equal(tried_of(s).fresh, 0); /* no longer there */
    store_close(s);
}

static int check_listed(void *arg, const struct listed *l)
{
    ++*(int *)arg;
    assert_string_equal(l->device, "NVIDIA H200");
    assert_string_equal(l->op, "transpose");
    assert_string_equal(l->types, "f32");
    assert_string_equal(l->problem, "m=1111,n=113");
    assert_string_equal(l->config, "TILE=8,GRID=xy,PAD=true,SCALE=0.5");
    assert_string_equal(l->cache, "cold");
    assert_string_equal(l->driver, "580.1");
    assert_true(l->time_ns == 1000 && l->copy_ns == 500 && l->bytes == 2. * 1111 * 113 * 4 && l->flops == 0);
    assert_string_equal(l->json, "{\"TILE\":8,\"GRID\":\"xy\",\"PAD\":true,\"SCALE\":0.5}");
    assert_int_equal(l->samples, 3);
    assert_int_equal(l->measured, 2);
    assert_int_equal(l->ok, 1);
    assert_false(l->stale);
    return 0;
}

static void lists_winners(void **state)
{
    (void)state;
    struct store *s = open_at("l.db", STORE_WRITE);
    struct target t = sample_winner(s, 1111, 113);
    struct measured bad = measurement('f', "{\"TILE\":64}");
    bad.result.outcome = OUT_WRONG;
    assert_int_equal(store_measured(s, &t, &bad, NULL), 0);
    int n = 0;
    assert_int_equal(store_each_winner(s, check_listed, &n, NULL), 0);
    assert_int_equal(n, 1);
    store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(keeps_measurements),
        in_folder(outlives_kill),
        in_folder(takes_turns),
        in_folder(keeps_winners),
        in_folder(packs_long_texts),
        in_folder(prefers_cold_winners),
        in_folder(keeps_defaults),
        in_folder(keeps_ops),
        in_folder(marks_what_a_change_made_stale),
        in_folder(marks_what_another_contract_proved),
        in_folder(marks_what_another_source_was_measured_from),
        in_folder(lists_winners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
