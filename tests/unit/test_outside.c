/* A reference outside of cutune, as a member of an op: what it proves is proved by another contract. And commands, run to their end. */
#include <errno.h>
#include <signal.h>

#include "child/command.h"
#include "measure/outside.h"
#include "model/kernel.h"
#include "store_sample.h"
#include "unit.h"

static const char digest[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static struct op with_outside(const char *name, const char *of)
{
    struct op op = *sample_op();
    op.outside = name;
    op.outside_digest = of;
    return op;
}

static bool goes_through(const struct op *op)
{
    struct buf b = { 0 };
    struct op *back = NULL;
    op_put(&b, op);
    struct cursor in = cursor_on(b.data, b.len);
    bool good = !op_get(&in, false, &back, NULL);
    if (good)
        assert_string_equal(back->outside ? back->outside : "", op->outside ? op->outside : "");
    op_free(good ? back : NULL);
    buf_free(&b);
    return good;
}

static void is_a_member_of_an_op(void **state)
{
    (void)state;
    char at_most[HASH_HEX], long_name[MAX_OUTSIDE + 2];
    snprintf(at_most, sizeof at_most, "%.*s", (int)sizeof at_most - 1, digest);
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    struct op good = with_outside("python3 ref.py", at_most), none = with_outside(NULL, NULL);
    assert_true(goes_through(&good) && goes_through(&none));
    struct op bad[] = { with_outside("a", NULL),
                        with_outside(NULL, at_most),
                        with_outside("a", "12"),
                        with_outside("a\nb", at_most),
                        with_outside(long_name, at_most),
                        with_outside(NULL, NULL),
                        good };
    bad[5].outside_beside = true;
    bad[6].reference.template_text = "kernel";
    bad[6].reference.template_name = "ref.cu";
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(goes_through(&bad[i]));
}

static void is_another_contract(void **state)
{
    (void)state;
    char one[HASH_HEX], own[HASH_HEX], other[HASH_HEX], a[HASH_HEX], b[HASH_HEX];
    hash_hex("a", 1, a);
    hash_hex("b", 1, b);
    struct op first = with_outside("ref.so", a), second = with_outside("ref.so", b), none = with_outside(NULL, NULL);
    assert_int_equal(op_contract(&first, one, NULL), 0);
    assert_int_equal(op_contract(&second, other, NULL), 0);
    assert_int_equal(op_contract(&none, own, NULL), 0);
    assert_true(strcmp(one, other) && strcmp(one, own) && strcmp(other, own));
    struct buf with = { 0 };
    tuned_with_print(&with, &first);
    assert_string_equal(buf_text(&with), "reference=ref.so");
    buf_free(&with);
    assert_true(outside_is_library("./ref.so") && outside_is_library("ref.so"));
    assert_false(outside_is_library("python3 ref.so") || outside_is_library(".so") || outside_is_library("ref.py"));
}

static void count(void *n)
{
    ++*(int *)n;
}

static int run(const char *text, double seconds, int *alive, struct err *err)
{
    const char *const argv[] = { "sh", "-c", text, NULL };
    return command_run(&(struct command_line){ argv, seconds, alive ? count : NULL, alive }, err);
}

static void commands_end(void **state)
{
    (void)state;
    struct err err = { 0 };
    int alive = 0;
    assert_int_equal(run("true", 100, NULL, &err), 0);
    assert_int_equal(run("read x && exit 1; exit 0", 100, NULL, &err), 0); /* there is nothing to read */
    assert_int_equal(run("exec >&- 2>&-; exit 4", 100, NULL, &err), ERR_INVALID);
    assert_string_equal(err.msg, "it ended with exit code 4");
    assert_int_equal(run("printf 'one\\ntwo\\033[1m\\n\\n'; exit 1", 100, NULL, &err), ERR_INVALID);
    assert_string_equal(err.msg, "it ended with exit code 1: two [1m");
    assert_int_equal(run("kill -9 $$", 100, NULL, &err), ERR_INVALID);
    assert_string_equal(err.msg, "it was killed by signal 9 (Killed)");
    assert_int_equal(run("sleep 1000 & exit 0", 100, NULL, &err), 0); /* what it leaves does not keep anybody waiting */
    assert_int_equal(run("trap '' TERM INT HUP; while :; do sleep 1; done", 1.2, &alive, &err), ERR_TIMEOUT);
    assert_string_equal(err.msg, "it did not end within 1.2 s");
    assert_true(alive >= 1);
    const char *const none[] = { "/no/such/program", NULL };
    assert_int_equal(command_run(&(struct command_line){ none, 100, NULL, NULL }, &err), ERR_INVALID);
    assert_string_equal(err.msg, "it ended with exit code 127: /no/such/program: No such file or directory");
}

/* Neither a session of its own nor one within that keeps a process: all are gone when the command is. */
static void nothing_is_left(void **state)
{
    (void)state;
    struct err err = { 0 };
    char name[] = "/tmp/left-XXXXXX", text[512];
    int file = mkstemp(name), pids[2] = { 0 };
    assert_true(file >= 0);
    snprintf(text, sizeof text,
             "setsid sh -c 'setsid sleep 1000 & echo $$ $! >%s; exec sleep 1000' & until grep -q '[0-9] [0-9]' %s; do sleep 0.01; done",
             name, name);
    assert_int_equal(run(text, 100, NULL, &err), 0);
    FILE *f = fdopen(file, "r");
    assert_int_equal(fscanf(f, "%d %d", &pids[0], &pids[1]), 2);
    fclose(f);
    unlink(name);
    for (int i = 0; i < 2; i++)
        assert_true(kill(pids[i], 0) < 0 && errno == ESRCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_a_member_of_an_op),
        cmocka_unit_test(is_another_contract),
        cmocka_unit_test(commands_end),
        cmocka_unit_test(nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
