/* Many threads that look up and launch, while the file they look into is written. Nothing here depends on how fast anything is; the
 * sanitizer and the answers tell. */
#include <pthread.h>
#include <time.h>

#include "runtime_sample.h"

enum { THREADS = 16, ROUNDS = 400, KNOWN = 8, TUNED = 12 };

struct crowd {
    cutune *c;
    cutune_handle *shared, *plain;
    atomic_int failures, over;
    atomic_ullong launches;
};

struct worker {
    struct crowd *crowd;
    uint64_t seed;
    pthread_t thread;
};

static void failed(struct crowd *crowd, const char *what)
{
    if (!atomic_fetch_add(&crowd->failures, 1)) /* the first; the words of asserts are for one thread only */
        fprintf(stderr, "%s: %s\n", what, cutune_error());
}

/* With words and sizes of this call's own, as callers have them. */
static const cutune_kernel *ask(struct crowd *crowd, cutune_handle *h, int64_t m, int64_t n)
{
    char op[16], types[16];
    int64_t sizes[] = { m, n };
    const cutune_kernel *k = NULL;
    snprintf(op, sizeof op, "trans%s", "pose");
    snprintf(types, sizeof types, "%c32", 'f');
    if (cutune_lookup(h, op, types, sizes, 2, &k))
        failed(crowd, "lookup");
    memset(op, 0, sizeof op);
    memset(types, 0, sizeof types);
    return k;
}

static void launch(struct crowd *crowd, const cutune_kernel *k)
{
    void *const buffers[] = { (void *)0x10000000, (void *)0x20000000 };
    if (!k)
        return;
    if (cutune_launch(k, NULL, buffers, 2))
        failed(crowd, "launch");
    atomic_fetch_add(&crowd->launches, (unsigned long long)cutune_kernel_launches(k));
    if (!strstr(cutune_kernel_config(k), "TILE=") || !*cutune_kernel_why(k) || !*cutune_kernel_variant(k))
        failed(crowd, "a kernel without words");
}

static int count(void *arg, const cutune_record *r)
{
    *(int *)arg += *r->op != 0;
    return 0;
}

static void odd_jobs(struct crowd *crowd, uint64_t dice)
{
    const int64_t sizes[] = { 1111, 113 };
    const cutune_problem problem = { sizeof problem, "transpose", "f32", sizes, 2 };
    cutune_handle *mine = NULL;
    int records = 0;
    switch (dice % 6) {
    case 0:
        if (cutune_refresh(crowd->c, NULL))
            failed(crowd, "refresh");
        break;
    case 1:
        if (cutune_flush(crowd->c))
            failed(crowd, "flush");
        break;
    case 2:
        if (cutune_prefetch(crowd->shared, &problem, 1))
            failed(crowd, "prefetch");
        break;
    case 3:
        if (cutune_each(crowd->c, count, &records) || !records)
            failed(crowd, "each");
        break;
    case 4: /* a failure of one's own: others do not see it */
        if (ask(crowd, crowd->plain, 5, 5) == NULL || cutune_launch(NULL, NULL, NULL, 0) != CUTUNE_ERR_INVALID ||
            strcmp(cutune_error(), "no kernel given"))
            failed(crowd, "another thread's error");
        break;
    default:
        if (attach_null(crowd->c, 1, &mine))
            failed(crowd, "attach");
        else
            launch(crowd, ask(crowd, mine, 64, 64));
        cutune_detach(mine);
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t dice = rand_at(w->seed, i);
        int64_t m = 64, n = 64 + (int64_t)(dice % KNOWN);
        if (dice % 16 == 0) /* often new, to others too */
            m = 65 + (int64_t)(dice >> 8) % 50;
        launch(w->crowd, ask(w->crowd, w->crowd->shared, m, n));
        if (dice % 32 == 1)
            odd_jobs(w->crowd, dice >> 32);
    }
    atomic_fetch_add(&w->crowd->over, 1);
    return NULL;
}

static void answer_while_the_file_is_written(void **state)
{
    (void)state;
    struct said said = { 0 };
    struct devspec spec = pretend();
    struct worker all[THREADS];
    cutune *c = open_pretend((cutune_options){ .capture = 1, .refresh_ms = 10, .log = note, .log_arg = &said });
    struct crowd crowd = { .c = c, .shared = attached(c), .plain = attached_to(c, &spec) };
    uint64_t before = null_launches();
    for (int i = 0; i < THREADS; i++) {
        all[i] = (struct worker){ .crowd = &crowd, .seed = (uint64_t)i };
        assert_int_equal(pthread_create(&all[i].thread, NULL, work, &all[i]), 0);
    }
    int written = 0;
    while (written < TUNED || atomic_load(&crowd.over) < THREADS) {
        tune("a.db", (struct recipe){ .m = 64, .n = 64 + written % TUNED, .tile = written % 3, .ns = 100 + written });
        written++;
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i].thread, NULL);
    assert_int_equal(atomic_load(&crowd.failures), 0);
    assert_int_equal(null_launches() - before, atomic_load(&crowd.launches));
    assert_int_equal(cutune_refresh(c, NULL), CUTUNE_OK);
    for (int n = 0; n < TUNED; n++)
        assert_int_equal(cutune_kernel_match(find(crowd.shared, 64, 64 + n)), CUTUNE_MATCH_EXACT);
    cutune_close(c);
    assert_true(ask_number("a.db", "SELECT sum(count) FROM wanted") > 0);
    if (said.lines)
        fail_msg("%s", said.last);
}

/* Every look-up of a captured problem is counted, whoever makes it and whoever writes it down meanwhile. */
static void *ask_again(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < ROUNDS; i++) {
        ask(w->crowd, w->crowd->shared, 300, 20);
        if (i % 100 == 99 && cutune_flush(w->crowd->c))
            failed(w->crowd, "flush");
    }
    return NULL;
}

static void lose_no_miss(void **state)
{
    (void)state;
    struct worker all[THREADS];
    cutune *c = open_pretend((cutune_options){ .capture = 1 });
    struct crowd crowd = { .c = c, .shared = attached(c) };
    for (int i = 0; i < THREADS; i++) {
        all[i] = (struct worker){ .crowd = &crowd };
        assert_int_equal(pthread_create(&all[i].thread, NULL, ask_again, &all[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i].thread, NULL);
    assert_int_equal(atomic_load(&crowd.failures), 0);
    cutune_close(c);
    assert_int_equal(ask_number("a.db", "SELECT sum(count) FROM wanted"), THREADS * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_pretend(answer_while_the_file_is_written),
        with_pretend(lose_no_miss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
