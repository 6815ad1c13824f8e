/* Exported C: the sources' cutting and joining; that each allocation of an export may fail. tests/library/export-c runs the result. */
#include "store_sample.h"

#include "export/c.h"
#include "export/c_source.h"

static const struct c_file files[] = {
    { .path = "a/all.h",
      .header = true,
      .text = "/* What the file is. */\n"
              "#ifndef A_ALL_H\n"
              "#define A_ALL_H\n"
              "\n"
              "#include <stddef.h>\n"
              "#include \"b/low.h\"\n"
              "\n"
              "/* Needed. */\n"
              "struct thing {\n"
              "    int count; /* of \"things\" { */\n"
              "};\n"
              "struct opaque;\n"
              "enum { ONE = 1, TWO };\n"
              "enum { UNUSED };\n"
              "#define TWICE(x) ((x) + \\\n"
              "                  (x))\n"
              "extern const int shared, other;\n"
              "int helper(const struct thing *t) __attribute__((pure));\n"
              "int replaced(void);\n"
              "int idle(void);\n"
              "\n"
              "#endif\n" },
    { .path = "b/low.h", .header = true, .text = "#ifndef B_LOW_H\n#define B_LOW_H\ntypedef int number;\n#endif\n" },
    { .path = "a/one.c",
      .text = "#include \"a/all.h\"\n"
              "\n"
              "#include <stdio.h>\n"
              "\n"
              "static number same(struct opaque *o, int count)\n"
              "{\n"
              "    struct thing t = { .count = count };\n"
              "    return o ? TWICE(helper(&t)) : t.count; /* same */\n"
              "}\n"
              "\n"
              "int app_go(void)\n"
              "{\n"
              "    return same(NULL, ONE) + shared + replaced() + '}';\n"
              "}\n" },
    { .path = "a/two.c",
      .text = "#include \"a/all.h\"\n"
              "#include <never.h>\n"
              "_Static_assert(TWO == 2, \"\");\n"
              "const int shared = 5;\n"
              "static int same(void)\n"
              "{\n"
              "    return 3;\n"
              "}\n"
              "__attribute__((noinline)) int helper(const struct thing *t)\n"
              "{\n"
              "    int other_same = same();\n"
              "    return t->count + other_same;\n"
              "}\n"
              "int replaced(void)\n"
              "{\n"
              "    return gone();\n"
              "}\n" },
    { .path = "a/three.c", .text = "#include <gone.h>\nconst int other = 7;\nint idle(void)\n{\n    return 0;\n}\n" },
    { .path = "a/embedded/in.c", .embedded = true, .text = "int replaced(void)\n{\n    return 40;\n}\n" },
};

static void has(const char *text, const char *what, bool wanted)
{
    if (!strstr(text, what) == wanted)
        fail_msg("%s: %s\n%s", wanted ? "lacking" : "unwanted", what, text);
}

static void joins_what_is_needed(void **state)
{
    (void)state;
    static const char *const there[] = {
        "#include <stddef.h>\n",
        "typedef int number;",
        "/* Needed. */\nstruct thing {",
        "enum { ONE = 1, TWO };",
        "static const int shared, other;",
        "static const int shared = 5;",
        "#define TWICE(x)",
        "static int helper(const struct thing *t) __attribute__((pure));",
        "static number same__one(",
        "static int same__two(",
        "other_same = same__two();",
        "return same__one(NULL, ONE)",
        "    return 40;",
        "\nint app_go(void)\n",
        ".count = count }",
        "static __attribute__((noinline)) int helper(",
    };
    static const char *const absent[] = { "gone",    "UNUSED",  "idle",           "other = 7",
                                          "A_ALL_H", "\"b/low", "_Static_assert", "What the file is" };
    struct buf out = { 0 };
    assert_int_equal(c_source_write(&out, files, sizeof files / sizeof *files, "app_", NULL), 0);
    for (size_t i = 0; i < sizeof there / sizeof *there; i++)
        has(buf_text(&out), there[i], true);
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        has(buf_text(&out), absent[i], false);
    assert_true(strstr(out.data, "typedef int number") < strstr(out.data, "struct thing {"));
    buf_free(&out);
}

static void takes_source_that_ends_anywhere(void **state)
{
    (void)state;
    for (size_t n = 0; n <= strlen(files[2].text); n++) {
        struct c_file cut[] = { files[0], files[1], files[2], files[3] };
        struct buf out = { 0 };
        char *text = mem_strndup(files[2].text, n), *header = mem_strndup(files[0].text, n % strlen(files[0].text));
        cut[2].text = text;
        cut[0].text = header;
        assert_int_equal(c_source_write(&out, cut, 4, "app_", NULL), 0);
        buf_free(&out);
        mem_free(text);
        mem_free(header);
    }
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
    /* The joining of the sources allocates by doubling: every one of the beginning, then some. */
    for (long nth = 0; rc; nth += nth < 400 ? 1 : 97) {
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
        cmocka_unit_test(joins_what_is_needed),
        cmocka_unit_test(takes_source_that_ends_anywhere),
        in_folder(survives_each_failed_allocation),
        in_folder(exports_what_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
