/* Sources as they are: native languages, several files, macros around headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/device.h"
#include "op/load.h"
#include "source/source.h"

static char folder[] = "/tmp/cutune-test-native-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* An op whose reference and variant say this beside their launch. */
static int load(const char *reference, const char *variant, struct op **op, struct err *err)
{
    char path[256], script[2048];
    snprintf(path, sizeof path, "%s/t.lua", folder);
    snprintf(script, sizeof script,
             "return op { name = 't', problem = { size 'n' }, types = { T = { 'f16', 'u8' } },\n"
             "args = { output('out', 'T', { 'n' }), value 'n' }, shapes = { { n = 5 } }, check = 'exact',\n"
             "reference = { launch = { kernel = 'ref' }, %s },\n"
             "variants = { { name = 'v', params = { { 'P', 1, 2 }, { 'G', 'a', 'b' } }, launch = { kernel = 'k' }, %s } },\n"
             "defaults = { { variant = 'v' } } }",
             reference, variant);
    write_file("t.lua", script);
    *err = (struct err){ 0 };
    return op_load(path, op, err);
}

static struct op *loaded(const char *reference, const char *variant)
{
    struct op *op;
    struct err err;
    if (load(reference, variant, &op, &err))
        fail_msg("%s", err.msg);
    return op;
}

static void is_source(const struct op *op, int row, const struct backend *b, const char *text)
{
    struct buf out = { 0 };
    struct err err = { 0 };
    if (source_render(op, &(struct config){ 0 }, row, &b->sample, &out, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(buf_text(&out), text);
    buf_free(&out);
}

#define PARAMETERS "#define P 1\n#define G_a 0\n#define G_b 1\n#define G G_a\n"

/* No prelude, and the language's own names of types. */
static void test_languages(void **state)
{
    (void)state;
    write_file("k.cu", "k\n");
    struct op *op = loaded("template = 'k.cu'", "template = 'k.cu', language = 'cuda'");
    assert_string_equal(op->variants[0].requires.backend, "cuda");
    is_source(
        op, 0, &cuda_backend,
        "#define T __half\n#define T_bytes 2\n#define T_bits unsigned short\n#define T_is_float 1\n#define T_is_f16 1\n" PARAMETERS
        "#line 1 \"k.cu\"\nk\n");
    op_free(op);
    op = loaded("template = 'k.cu'", "template = 'k.cu', language = 'opencl'");
    is_source(op, 1, &opencl_backend,
              "#define T uchar\n#define T_bytes 1\n#define T_bits uchar\n#define T_is_float 0\n#define T_is_u8 1\n" PARAMETERS
              "#line 1 \"k.cu\"\nk\n");
    struct buf out = { 0 };
    struct err err = { 0 };
    assert_int_equal(source_render(op, &(struct config){ 0 }, 0, &cuda_backend.sample, &out, &err), ERR_INVALID);
    assert_non_null(strstr(err.msg, "k.cu is in opencl's own language"));
    buf_free(&out);
    op_free(op);
}

/* All files are one source. What each includes is found, and each has its own lines. */
static void test_several_files(void **state)
{
    (void)state;
    write_file("k.cu", "k");
    write_file("lua.cu", "//@ local x = P\n$(x)\n#include \"i.h\"\n");
    write_file("i.h", "i\n");
    struct op *op = loaded("template = 'k.cu', language = 'cuda'", "template = { 'k.cu', 'lua.cu', 'k.cu' }, language = 'cuda'");
    is_source(op, 1, &cuda_backend,
              "#define T unsigned char\n#define T_bytes 1\n#define T_bits unsigned char\n#define T_is_float 0\n#define T_is_u8 "
              "1\n" PARAMETERS
              "#line 1 \"k.cu\"\nk\n#line 13 \"lua.cu, filled\"\n1\n#line 1 \"i.h\"\ni\n#line 17 \"lua.cu, filled\"\n"
              "#line 1 \"k.cu\"\nk");
    char was[HASH_HEX], now[HASH_HEX];
    assert_int_equal(variant_made(op, &op->variants[0], was, NULL), 0);
    op->variants[0].build.more[1].text = "other";
    assert_int_equal(variant_made(op, &op->variants[0], now, NULL), 0);
    assert_string_not_equal(was, now);
    assert_int_equal(variant_made(op, &op->variants[0], was, NULL), 0);
    op->variants[0].build.language = "opencl";
    assert_int_equal(variant_made(op, &op->variants[0], now, NULL), 0);
    assert_string_not_equal(was, now);
    op_free(op);
}

/* Macros are not there in headers, and are there again behind them, whatever is compiled. */
static void test_macros_and_headers(void **state)
{
    (void)state;
#define TYPE "#define T unsigned char\n#define T_bytes 1\n#define T_bits unsigned char\n#define T_is_float 0\n#define T_is_u8 1\n"
#define HIDDEN                                                                                                                     \
    "#undef T\n#undef T_bytes\n#undef T_bits\n#undef T_is_float\n#undef T_is_u8\n#undef P\n#undef G_a\n#undef G_b\n#undef G\n"
    write_file("h.cu", "#include <a>\n\n// b\n#include <b>\n#if P\n#include <c>\n#else\n#include \"o.h\"\n#endif\n#include <d>");
    write_file("o.h", "#pragma once\n#include <e>\n");
    struct op *op = loaded("template = 'h.cu', language = 'cuda'", "template = 'h.cu', language = 'cuda'");
    is_source(op, 1, &cuda_backend,
              TYPE PARAMETERS
              "#line 1 \"h.cu\"\n" HIDDEN "#line 1 \"h.cu\"\n#include <a>\n\n// b\n#include <b>\n" TYPE PARAMETERS
              "#line 5 \"h.cu\"\n#if P\n" HIDDEN "#line 6 \"h.cu\"\n#include <c>\n" TYPE PARAMETERS
              "#line 7 \"h.cu\"\n#else\n#ifndef CUTUNE_INCLUDED_0\n#define CUTUNE_INCLUDED_0\n#line 1 \"o.h\"\n\n" HIDDEN
              "#line 2 \"o.h\"\n#include <e>\n" TYPE PARAMETERS "#endif\n#line 9 \"h.cu\"\n#endif\n" HIDDEN
              "#line 10 \"h.cu\"\n#include <d>\n" TYPE PARAMETERS);
    op_free(op);
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *variant, *says;
    } bad[] = {
        { "", "variant v: template is missing" },
        { "template = 5", "variant v: template: must be a text, not number" },
        { "template = {}", "variant v: template: has 0 entries; from 1 to 16" },
        { "template = { 'k.cu', 'no.cu' }", "variant v: template: there is no 'no.cu' in" },
        { "template = { 'k.cu', '../k.cu' }", "variant v: template: '../k.cu' must be a file's name" },
        { "template = { 'k.cu', 'needs.cu' }", "variant v: needs.cu:2: there is no 'no.h' in" },
        { "template = 'k.cu', language = 'hip'", "variant v: language: 'hip' is not one of cuda, opencl" },
        { "template = 'k.cu', language = 'null'", "variant v: language: 'null' is not one of cuda, opencl" },
        { "template = 'k.cu', language = true", "variant v: language: must be a text" },
        { "template = 'k.cu', language = 'cuda', requires = { backend = 'opencl' }",
          "variant v: language: is that of cuda, but requires says backend = 'opencl'" },
        { "template = 'k.cu', requires = { grid_order = true }", "the last must always hold" },
    };
    struct op *op;
    struct err err;
    write_file("k.cu", "k\n");
    write_file("needs.cu", "\n#include \"no.h\"\n");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (load("template = 'k.cu'", bad[i].variant, &op, &err) >= 0 || !strstr(err.msg, bad[i].says))
            fail_msg("%s: should say '%s', says '%s'", bad[i].variant, bad[i].says, err.msg);
}

static int setup(void **state)
{
    (void)state;
    return !mkdtemp(folder) || setenv("CUTUNE_HOME", SOURCE_DIR, 1) ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_languages),
        cmocka_unit_test(test_several_files),
        cmocka_unit_test(test_macros_and_headers),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
