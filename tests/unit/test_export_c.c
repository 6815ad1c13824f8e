/* Exported C: what is chosen, and that each allocation of an export may fail. tests/library/export-c runs the result. */
#include "store_sample.h"

#include "export/export.h"

static void has(const char *text, const char *what, bool wanted)
{
    if (!strstr(text, what) == wanted)
        fail_msg("%s: %s\n%s", wanted ? "lacking" : "unwanted", what, text);
}

static struct store *tables(void)
{
    struct store *s;
    assert_int_equal(store_open(in_dir("a.db"), STORE_WRITE, &s, NULL), 0);
    sample_winner(s, 1111, 113);
    sample_winner(s, 4096, 4096);
    sample_defaults(s);
    return s;
}

static void survives_each_failed_allocation(void **state)
{
    (void)state;
    const struct c_choice all = { 0 };
    struct buf whole = { 0 };
    struct store *s = tables();
    assert_int_equal(c_export(s, &all, &whole, NULL), 0);
    int rc = ERR_NOMEM;
    for (long nth = 0; rc; nth++) {
        struct buf out = { 0 };
        struct err err = { 0 };
        mem_fail_at(nth);
        rc = c_export(s, &all, &out, &err);
        mem_fail_at(-1);
        if (rc)
            assert_int_equal(err.code, ERR_NOMEM);
        else
            assert_true(out.len == whole.len && !memcmp(out.data, whole.data, out.len));
        buf_free(&out);
    }
    buf_free(&whole);
    store_close(s);
}

static void exports_what_is_chosen(void **state)
{
    (void)state;
    struct store *s = tables();
    static const char *const ops[] = { "transpose" }, *const none[] = { "none" };
    const struct c_choice choices[] = { { ops, 1, NULL }, { NULL, 0, "NVIDIA H200" }, { ops, 1, "sm_90" }, { NULL, 0, "cuda" } };
    const struct c_choice wrong[] = { { none, 1, NULL }, { NULL, 0, "sm_89" } };
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        struct buf out = { 0 };
        assert_int_equal(c_export(s, &choices[i], &out, NULL), 0);
        has(buf_text(&out), " * transpose: 2 winners, 2 defaults\n", true);
        buf_free(&out);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct buf out = { 0 };
        struct err err = { 0 };
        assert_int_equal(c_export(s, &wrong[i], &out, &err), ERR_NOTFOUND);
        assert_true(strlen(err.msg) > 20);
        buf_free(&out);
    }
    store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(survives_each_failed_allocation),
        in_folder(exports_what_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
