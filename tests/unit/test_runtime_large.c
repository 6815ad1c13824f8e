/* A look-up in a very large file needs limited memory and steps, and gives the same answer as in a small one. docs/library.md has times:
 * `test_runtime_large WINNERS` makes files of that size and prints them. */
#include "runtime_sample.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

/* What a file has, all for the sample op: sizes m=1000+i, n=1+i%97. */
struct large {
    const char *name;
    int winners;
    int devices; /* that they are spread over; the first is the pretend one */
    int configs; /* different ones among the winners; 0: each its own */
    int times;   /* measurements of each winner's problem, of the first configurations */
    int long_by; /* bytes more in each configuration's text */
    int types;   /* 2: i32, too */
};

static void make_large(const char *file, const struct large *l)
{
    char sql[8192], path[PATH_ROOM];
    snprintf(path, sizeof path, "%s", in_dir(file));
    unlink(path);
    struct store *s = open_at(file, STORE_WRITE);
    put_winner_of(s, (struct recipe){ .m = 1111, .n = 113, .tile = 1 });
    put_default_of(s, (struct recipe){ .rank = 1, .tile = 1, .grid = 1, .plain = true, .no_room = true });
    store_close(s);
    int n = snprintf(
        sql, sizeof sql,
        "PRAGMA synchronous = 0; BEGIN;\n"
        "CREATE TEMP TABLE i(i INTEGER PRIMARY KEY, config TEXT, device, types);"
        "WITH RECURSIVE c(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM c WHERE i < %d + 99) INSERT INTO i "
        "SELECT i, '{\"TILE\":' || (i %% %d) || ',\"X\":\"0' || hex(zeroblob(%d / 2)) || '\"}', 1 + i %% %d, iif(%d = 2 AND i %% "
        "2, 'i32', 'f32') FROM "
        "c;"
        "WITH RECURSIVE c(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM c WHERE i < %d) INSERT INTO device "
        "SELECT c.i, backend, 'other ' || c.i, arch, mig, multiprocessors + c.i, memory FROM c, device WHERE id = 1;"
        "INSERT INTO problem SELECT i, 1, types, 'm=' || (1000 + i) || ',n=' || (1 + i %% 97), 1000.0, 0.0 FROM i;"
        "INSERT INTO tuned SELECT i, role, i.device, i, cache, op, NULL, backend, rank, key, variant, i.config, time_ns + i %% 11, "
        "copy_ns, code, provenance, created, verified, kernel FROM tuned, i WHERE tuned.id = 1;",
        l->winners, l->configs ? l->configs : 1 << 30, l->long_by, l->devices, l->types, l->devices);
    if (l->times)
        n += snprintf(sql + n, sizeof sql - (size_t)n,
                      "WITH RECURSIVE t(t) AS (SELECT 0 UNION ALL SELECT t + 1 FROM t WHERE t < %d - 1) "
                      "INSERT INTO measurement SELECT NULL, i.device, i.i, m.cache, printf('%%032x', t * 1000000 + i.i), protocol, "
                      "provenance, variant, '{\"TILE\":' || ((i.i + t) %% %d) || ',\"X\":\"0' || hex(zeroblob(%d / 2)) || '\"}', "
                      "outcome, reason, n, "
                      "median + t, min, max, mean, stddev, ci_low, ci_high, samples, compile_ms, registers, shared, local, "
                      "max_threads, sm_mhz, mem_mhz, created, made FROM i, t, measurement AS m WHERE m.id = 1;",
                      l->times, l->configs ? l->configs : 1 << 30, l->long_by);
    snprintf(sql + n, sizeof sql - (size_t)n, "COMMIT");
    meddle(file, sql);
}

static size_t live, most; /* bytes of the library's */

static void *count_alloc(void *arg, size_t bytes)
{
    (void)arg;
    size_t *p = malloc(bytes + 16);
    if (!p)
        return NULL;
    *p = bytes;
    live += bytes;
    most = live > most ? live : most;
    return p + 2;
}

static void count_free(void *arg, void *p)
{
    (void)arg;
    if (!p)
        return;
    size_t *at = (size_t *)p - 2;
    live -= *at;
    free(at);
}

static void *count_resize(void *arg, void *p, size_t bytes)
{
    if (!p)
        return count_alloc(arg, bytes);
    size_t *at = (size_t *)p - 2, was = *at;
    at = realloc(at, bytes + 16);
    if (!at)
        return NULL;
    *at = bytes;
    live += bytes - was;
    most = live > most ? live : most;
    return at + 2;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static long resident_kb(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return r.ru_maxrss;
}

static int by_hand(int winners)
{
    const struct large files[] = {
        { "one device, each its own configuration", winners, 1, 0, 0, 0, 1 },
        { "one device, 60 configurations, 10 times each", winners, 1, 60, 10, 0, 1 },
        { "one device, own configurations, 3 times each", winners, 1, 0, 3, 0, 1 },
        { "a device each", winners, winners, 0, 0, 0, 1 },
        { "300 devices, two types, 500 configurations", winners, 300, 500, 2, 0, 2 },
        { "configurations of 8000 bytes", winners / 20, 1, 0, 0, 8000, 1 },
    };
    make_dir(NULL);
    setenv("XDG_CACHE_HOME", sample_dir, 1);
    setenv("CUTUNE_TABLES", "", 1);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        make_large("a.db", &files[i]);
        fflush(stdout);
        if (fork() == 0) {
            mem_use(count_alloc, count_resize, count_free, NULL);
            long before = resident_kb();
            cutune *c = open_pretend((cutune_options){ 0 });
            cutune_handle *h = attached(c);
            double start = now_ms();
            const cutune_kernel *k = find(h, 1112, 114);
            double first = now_ms() - start;
            start = now_ms();
            find(h, 1112, 115);
            printf("%-48s %8.1f ms first, %7.1f ms next, %6.1f MB resident, %6.1f MB allocated: %.60s\n", files[i].name, first,
                   now_ms() - start, (double)(resident_kb() - before) / 1e3, (double)most / 1e6, cutune_kernel_why(k));
            cutune_close(c);
            fflush(stdout);
            _exit(0);
        }
        int status;
        wait(&status);
    }
    return remove_dir(NULL);
}

/* ---- the tests */

/* Opens a.db and asks a near question, counting what is allocated meanwhile. */
static cutune *open_counted(cutune_handle **h)
{
    cutune *c = open_pretend((cutune_options){ 0 });
    *h = attached(c);
    most = live;
    return c;
}

static void grows_with_the_file(void **state)
{
    (void)state;
    static const struct large files[] = {
        { "a configuration each", 4000, 1, 0, 0, 0, 1 },
        { "measured several times", 2000, 1, 0, 4, 0, 1 },
        { "a device each", 4000, 4000, 0, 0, 0, 1 },
        { "two types", 4000, 3, 2000, 1, 0, 2 },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        cutune_handle *h;
        make_large("a.db", &files[i]);
        cutune *c = open_counted(&h);
        size_t before = live;
        const cutune_kernel *k = find(h, 1112, 114);
        if (cutune_kernel_match(k) != CUTUNE_MATCH_NEAR || most - before > 2000 * (size_t)files[i].winners)
            fail_msg("%s: %zu bytes for %d winners: %s", files[i].name, most - before, files[i].winners, cutune_kernel_why(k));
        assert_null(strstr(cutune_kernel_why(k), "more winners"));
        cutune_close(c);
    }
}

/* Past a bound the first winners are as good as all, the answer says so, and what was tuned is found all the same. */
static void stops_at_a_bound(void **state)
{
    (void)state;
    const struct large file = { "long", 400, 1, 0, 0, 60000, 1 };
    char why[512];
    for (int round = 0; round < 2; round++) {
        cutune_handle *h;
        if (!round)
            make_large("a.db", &file);
        cutune *c = open_counted(&h);
        size_t before = live;
        const cutune_kernel *k = find(h, 1112, 114);
        assert_int_equal(cutune_kernel_match(k), CUTUNE_MATCH_NEAR);
        assert_non_null(
            strstr(cutune_kernel_why(k), "(the file has more winners or times than a look-up reads: of the first ones)"));
        if (round)
            assert_string_equal(cutune_kernel_why(k), why);
        snprintf(why, sizeof why, "%s", cutune_kernel_why(k));
        assert_true(most - before < 3 * MOST_CONFIG_BYTES);
        k = find(h, 1000 + 498, 1 + 498 % 97);
        assert_int_equal(cutune_kernel_match(k), CUTUNE_MATCH_EXACT);
        assert_non_null(strstr(cutune_kernel_config(k), "TILE=498,"));
        cutune_close(c);
    }
}

/* Too many rows for the grid: each winner's constraints refuse it. */
static void asks_so_many_and_no_more(void **state)
{
    (void)state;
    const struct large file = { "many", 3000, 3, 0, 0, 0, 1 };
    cutune_handle *h;
    make_large("a.db", &file);
    cutune *c = open_counted(&h);
    const cutune_kernel *k = find(h, INT64_C(1) << 24, 3);
    assert_int_equal(cutune_kernel_match(k), CUTUNE_MATCH_DEFAULT);
    assert_non_null(strstr(cutune_kernel_why(k), "not all were checked"));
    size_t kept = live;
    for (int i = 0; i < 20; i++)
        assert_int_equal(cutune_kernel_match(find(h, (INT64_C(1) << 24) + i, 5)), CUTUNE_MATCH_DEFAULT);
    assert_true(live < kept + (1 << 20)); /* plans of the refused are not gathered */
    cutune_close(c);
}

static void holds_one_default_at_a_time(void **state)
{
    (void)state;
    meddle("a.db",
           "CREATE TEMP TABLE c AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 60) SELECT i FROM c;"
           "INSERT INTO code SELECT 100 + i, printf('%032x', i), 'void transpose() {} //' || printf('%400000d', i), NULL, "
           "NULL, NULL, NULL, NULL FROM c;" /* none may run */
           "INSERT INTO tuned SELECT 100 + i, role, device, problem, cache, op, types, backend, 10 + i, key, variant, config, "
           "time_ns, copy_ns, 100 + i, provenance, created, verified, kernel FROM tuned, c WHERE rank = 0;"
           "DELETE FROM tuned WHERE role = 'winner' OR rank < 2");
    cutune_handle *h;
    cutune *c = open_counted(&h);
    size_t before = live;
    const cutune_kernel *k = NULL;
    assert_int_equal(try_find(h, INT64_C(1) << 24, 3, &k), CUTUNE_ERR_NOTFOUND);
    if (most - before > 4000000 || most - before < 400000)
        fail_msg("%zu bytes", most - before);
    cutune_close(c);
}

static void refreshes_while_it_grows(void **state)
{
    (void)state;
    cutune_handle *h;
    make_large("a.db", &(struct large){ "small", 500, 2, 0, 1, 0, 1 });
    cutune *c = open_counted(&h);
    for (int i = 0; i < 3; i++) {
        int changed;
        char sql[512];
        assert_int_equal(cutune_kernel_match(find(h, 1112, 114 + i)), CUTUNE_MATCH_NEAR);
        snprintf(sql, sizeof sql,
                 "UPDATE problem SET sizes = 'm=1112,n=' || (114 + %d) WHERE id = %d; "
                 "INSERT INTO problem SELECT id + 10000 * (1 + %d), op, types, 'm=' || (id + 10000 * (2 + %d)) || ',n=7', 1.0, 0.0 "
                 "FROM problem WHERE id < 1000",
                 i, 100 + 2 * i, i, i);
        meddle("a.db", sql);
        assert_int_equal(cutune_refresh(c, &changed), CUTUNE_OK);
        assert_int_equal(cutune_kernel_match(find(h, 1112, 114 + i)), CUTUNE_MATCH_EXACT);
    }
    cutune_close(c);
}

/* ---- the same answers as by the plainest way */

enum { PROBLEMS = 120, TILES = 3, GRIDS = 2, CONFIGS = TILES * GRIDS };

static double plain_loss(const double *distance, const double (*loss)[CONFIGS], int config)
{
    double nearest[PROBLEMS], at[PROBLEMS];
    int n = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        if (isnan(loss[i][config]))
            continue;
        double l = loss[i][config] < 1 ? loss[i][config] : 1;
        int place = n++;
        for (; place > 0 && nearest[place - 1] > distance[i]; place--) {
            nearest[place] = nearest[place - 1];
            at[place] = at[place - 1];
        }
        nearest[place] = distance[i];
        at[place] = l;
    }
    double sum = 0.2, weight = 1;
    for (int i = 0; i < n && i < NEIGHBOURS; i++) {
        sum += at[i] / (nearest[i] + 0.25);
        weight += 1 / (nearest[i] + 0.25);
    }
    return n ? sum / weight : INFINITY;
}

static void answers_by_the_rule(void **state)
{
    (void)state;
    static double loss[PROBLEMS][CONFIGS];
    static struct near_point points[PROBLEMS];
    bool won[CONFIGS] = { false };
    unlink(in_dir("a.db"));
    struct store *s = open_at("a.db", STORE_WRITE);
    assert_int_equal(store_begin(s, true, NULL), 0);
    for (uint64_t i = 0; i < PROBLEMS; i++) {
        int64_t sizes[] = { (int64_t)(1 + rand_at(1, i) % 5000), (int64_t)(1 + rand_at(2, i) % 5000) };
        double times[CONFIGS];
        int best = 0;
        near_point_set(&points[i], sample_op(), 0, &(struct problem){ { sizes[0], sizes[1] } });
        for (uint64_t c = 0; c < CONFIGS; c++) {
            times[c] = 1000 + (double)(rand_at(3, i * CONFIGS + c) % 1500);
            best = times[c] < times[best] ? (int)c : best;
        }
        won[best] = true;
        for (int c = 0; c < CONFIGS; c++) {
            struct recipe r = { .m = sizes[0], .n = sizes[1], .tile = c % TILES, .grid = c / TILES, .ns = times[c] };
            bool there = c == best || rand_at(4, i * CONFIGS + (uint64_t)c) % 3;
            loss[i][c] = there ? log(times[c] / times[best]) : NAN;
            if (c == best)
                put_winner_of(s, r);
            else if (there)
                put_time_of(s, r);
        }
    }
    assert_int_equal(store_end(s, 0, NULL), 0);
    store_close(s);
    cutune_handle *h;
    cutune *c = open_counted(&h);
    for (uint64_t i = 0; i < 100; i++) {
        static const int tiles[] = { 32, 8, 64 };
        int64_t sizes[] = { (int64_t)(5001 + rand_at(5, i) % 3000), (int64_t)(1 + rand_at(6, i) % 8000) };
        struct near_point here;
        double distance[PROBLEMS], least = INFINITY;
        int best = 0;
        char expected[64];
        near_point_set(&here, sample_op(), 0, &(struct problem){ { sizes[0], sizes[1] } });
        for (int p = 0; p < PROBLEMS; p++)
            distance[p] = near_distance(&here, &points[p], sample_op());
        for (int k = 0; k < CONFIGS; k++) {
            double l = won[k] ? plain_loss(distance, loss, k) : INFINITY;
            if (l < least) {
                least = l;
                best = k;
            }
        }
        snprintf(expected, sizeof expected, "TILE=%d,GRID=%s,", tiles[best % TILES], best / TILES ? "x" : "xy");
        assert_is(find(h, sizes[0], sizes[1]), CUTUNE_MATCH_NEAR, expected);
    }
    cutune_close(c);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        with_pretend(grows_with_the_file),         with_pretend(stops_at_a_bound),         with_pretend(asks_so_many_and_no_more),
        with_pretend(holds_one_default_at_a_time), with_pretend(refreshes_while_it_grows), with_pretend(answers_by_the_rule),
    };
    if (argc > 1)
        return by_hand(atoi(argv[1]));
    mem_use(count_alloc, count_resize, count_free, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
