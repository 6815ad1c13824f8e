/* From a configuration to source: define lines, the template language, keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/load.h"
#include "source/source.h"
#include "source/template.h"

static const struct devspec gpu = {
    .backend = "cuda", .multiprocessors = 132, .cc = 90, .warp = 32, .max_threads = 1024, .max_shared = 232448, .fp64 = true
};

static const struct template_var vars[] = {
    { "N", { .type = VAL_INT, .i = 3 } },
    { "F", { .type = VAL_FLOAT, .f = 0.5 } },
    { "B", { .type = VAL_BOOL, .b = true } },
    { "S", { .type = VAL_STR, .s = "xy" } },
};

/* What the templates turn into. */
static const struct {
    const char *text, *gives;
} filled[] = {
    { "", "" },
    { "plain \"text\" \\n\t$ ( //@ not Lua\n", "plain \"text\" \\n\t$ ( //@ not Lua\n" },
    { "no newline at the end", "no newline at the end" },
    { "a $(N) b\n", "a 3 b\n" },
    { "$(N)$(F)$(B)$(S)\n", "30.51xy\n" },
    { "\"\\\x01 $(')' .. S)\n", "\"\\\x01 )xy\n" },
    { "$(math.max(N, (2)))\n", "3\n" },
    { "//@ for i = 1, N do\nx$(i);\n  //@ end\ny\n", "x1;\nx2;\nx3;\ny\n" },
    { "//@ if S == 'z' then\nz\n//@ else\nw\n//@ end", "w\n" },
    { "//@ local _ = 5\n$(_)\n", "5\n" },
};

static void test_fill(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof filled / sizeof *filled; i++) {
        struct buf out = { 0 };
        struct err err = { 0 };
        if (template_fill("t.cu", filled[i].text, vars, 4, &out, &err))
            fail_msg("%s: %s", filled[i].text, err.msg);
        assert_string_equal(buf_text(&out), filled[i].gives);
        buf_free(&out);
    }
}

static const struct {
    const char *text, *says;
} broken[] = {
    { "a\n$(N\n", "t.cu:2: $( is not closed" },
    { "a\n\n$(N N)\n", "t.cu:3:" },
    { "$()\n", "t.cu:1:" },
    { "$(N, N)\n", "t.cu:1:" },
    { "a\n$(nothing)\n", "t.cu:2: $( ) gives nil" },
    { "a\n$({})\n", "t.cu:2: $( ) gives table" },
    { "$('\\0')\n", "t.cu:1: $( ) gives a text with a zero byte" },
    { "//@ for i = 1, 2 do\n", "t.cu:" },
    { "\n//@ error('so')\n", "t.cu:2: so" },
    { "//@ while true do end\n", "t.cu:1: ran for more than" },
    { "//@ local s = 'x'\n//@ while true do s = s .. s end\n", "memory" },
    { "//@ local s = ('x'):rep(1e6)\n//@ while true do\n$(s)\n//@ end\n", "t.cu:3: the filled template is larger than 16 MB" },
    { "//@ io.open('/etc/passwd')\n", "t.cu:1:" },
};

static void test_broken(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct buf out = { 0 };
        struct err err = { 0 };
        int rc = template_fill("t.cu", broken[i].text, vars, 4, &out, &err);
        if (rc >= 0 || !strstr(err.msg, broken[i].says) || strncmp(err.msg, "t.cu:", 5))
            fail_msg("%s: should say '%s', says '%s'", broken[i].text, broken[i].says, rc ? err.msg : "nothing");
        assert_int_equal(out.len, 0);
        buf_free(&out);
    }
}

/* An op by hand, with a parameter of each kind. */
static struct val numbers[] = { { .type = VAL_INT, .i = 32 }, { .type = VAL_INT, .i = INT64_MIN }, { .type = VAL_INT, .i = -1 } };
static struct val floats[] = { { .type = VAL_FLOAT, .f = 2 }, { .type = VAL_FLOAT, .f = -0.1 } };
static struct val flags[] = { { .type = VAL_BOOL, .b = false }, { .type = VAL_BOOL, .b = true } };
static struct val words[] = { { .type = VAL_STR, .s = "xy" }, { .type = VAL_STR, .s = "x" } };
static struct param params[] = { { "N", 3, numbers }, { "F", 2, floats }, { "B", 2, flags }, { "GRID", 2, words } };

static struct op *hand_made(const char *text)
{
    struct op *op = op_new();
    assert_non_null(op);
    op->name = "hand";
    op->prelude_cuda = "// cuda\n";
    op->prelude_opencl = "// opencl\n";
    op->ntypes = op->nrows = op->nvariants = 1;
    op->types = arena_array(op->arena, 1, sizeof *op->types);
    op->rows = arena_array(op->arena, 1, sizeof *op->rows);
    op->variants = arena_array(op->arena, 1, sizeof *op->variants);
    op->types[0] = "T";
    op->rows[0] = dtype_find("bf16");
    op->variants[0] =
        (struct variant){ .name = "v", .template_name = "v.cu", .template_text = text, .nparams = 4, .params = params };
    return op;
}

static void test_defines(void **state)
{
    (void)state;
    struct op *op = hand_made("body\n");
    struct buf out = { 0 };
    struct config c = { .at = { 1, 1, 1, 1 } };
    assert_int_equal(source_render(op, &c, 0, &gpu, &out, NULL), 0);
    assert_string_equal(buf_text(&out),
                        "// cuda\n#define T uint16\n#define T_bytes 2\n#define T_bits uint16\n#define T_is_float 1\n"
                        "#define T_is_bf16 1\n"
                        "#define N (-9223372036854775807 - 1)\n#define F (-0.10000000000000001)\n#define B 1\n"
                        "#define GRID_xy 0\n#define GRID_x 1\n#define GRID GRID_x\n#line 1 \"v.cu\"\nbody\n");
    buf_clear(&out);
    op->variants[0].template_text = "$(T) $(T_bytes) $(N) $(GRID) $(backend)\n";
    op->rows[0] = dtype_find("c128");
    c = (struct config){ .at = { 2 } };
    struct devspec cl = gpu;
    snprintf(cl.backend, sizeof cl.backend, "opencl");
    assert_int_equal(source_render(op, &c, 0, &cl, &out, NULL), 0);
    assert_string_equal(buf_text(&out),
                        "// opencl\n#define T double2\n#define T_bytes 16\n#define T_bits uint4\n#define T_is_float 0\n"
                        "#define T_is_c128 1\n"
                        "#define N (-1)\n#define F 2.0\n#define B 0\n"
                        "#define GRID_xy 0\n#define GRID_x 1\n#define GRID GRID_xy\nc128 16 -1 xy opencl\n");
    buf_free(&out);
    op_free(op);
}

/* Every element type has a name in the dialect. */
static void test_types(void **state)
{
    (void)state;
    struct op *op = hand_made("body\n");
    struct config c = { 0 };
    for (int i = 0; dtype_at(i); i++) {
        struct buf out = { 0 };
        op->rows[0] = dtype_at(i);
        assert_int_equal(source_render(op, &c, 0, &gpu, &out, NULL), 0);
        buf_free(&out);
    }
    op_free(op);
}

static void key_of(const struct op *op, const struct config *c, const char *shape, const char *source, char key[HASH_HEX])
{
    struct problem prob;
    struct err err = { 0 };
    char basis[HASH_HEX];
    if (problem_parse(op, shape, &prob, &err) || source_basis(op, &prob, 0, &gpu, "NVRTC 13.0", basis, &err) ||
        source_key(op, c, &prob, 0, &gpu, source, basis, key, &err))
        fail_msg("%s", err.msg);
}

static void test_key(void **state)
{
    (void)state;
    struct op *op;
    struct err err = { 0 };
    if (op_load("dot", &op, &err))
        fail_msg("%s", err.msg);
    struct config c = { .variant = 0 }, more = { .variant = 0, .at = { 0, 0, 1 } },
                  atomic = { .variant = op_variant(op, "atomic") };
    char first[HASH_HEX], other[HASH_HEX];
    key_of(op, &c, "n=1000000", "source", first);
    key_of(op, &c, "n=1000000", "source", other);
    assert_string_equal(first, other);
    key_of(op, &c, "n=1000000", "other source", other);
    assert_string_not_equal(first, other);
    key_of(op, &c, "n=1000001", "source", other);
    assert_string_not_equal(first, other);
    key_of(op, &more, "n=1000000", "source", other); /* another number of blocks */
    assert_string_not_equal(first, other);
    key_of(op, &atomic, "n=1000000", "source", first);
    op->variants[atomic.variant].nclear = 0;
    key_of(op, &atomic, "n=1000000", "source", other);
    assert_string_not_equal(first, other);
    op->args[1].name = "renamed";
    key_of(op, &atomic, "n=1000000", "source", first);
    assert_string_equal(first, other);
    op->variants[atomic.variant].requires.arch_specific = true; /* compiled for another architecture */
    key_of(op, &atomic, "n=1000000", "source", other);
    assert_string_not_equal(first, other);
    op_free(op);
}

static void basis_of(const struct op *op, const char *shape, const char *compiler, char basis[HASH_HEX])
{
    struct problem prob;
    struct err err = { 0 };
    if (problem_parse(op, shape, &prob, &err) || source_basis(op, &prob, 0, &gpu, compiler, basis, &err))
        fail_msg("%s", err.msg);
}

/* A verdict is worth no more than what it was reached with. */
static void test_basis(void **state)
{
    (void)state;
    struct op *op;
    struct err err = { 0 };
    if (op_load("dot", &op, &err))
        fail_msg("%s", err.msg);
    char first[HASH_HEX], other[HASH_HEX], last[HASH_HEX];
    basis_of(op, "n=1000000", "NVRTC 13.0", first);
    basis_of(op, "n=1000000", "NVRTC 13.0", other);
    assert_string_equal(first, other);
    basis_of(op, "n=1000001", "NVRTC 13.0", other);
    assert_string_not_equal(first, other);
    basis_of(op, "n=1000000", "NVRTC 13.1", other);
    assert_string_not_equal(first, other);
    const struct op was = *op;
    for (int way = 0; way < 7; way++) {
        struct arg arg = op->args[1];
        switch (way) {
        case 0:
            op->check_length = "1000000000";
            break;
        case 1:
            op->check = CHECK_EXACT;
            break;
        case 2:
            op->reference_text = "KERNEL void dot_ref() { }";
            break;
        case 3:
            op->reference.block[0] = "77";
            break;
        case 4:
            op->args[1].fill = op->args[1].fill == FILL_BITS ? FILL_NUMBERS : FILL_BITS;
            break;
        case 5:
            op->args[1].partial = true;
            break;
        case 6:
            op->prelude_cuda = "";
            break;
        }
        basis_of(op, "n=1000000", "NVRTC 13.0", other);
        assert_string_not_equal(first, other);
        basis_of(op, "n=1000000", "NVRTC 13.0", last);
        assert_string_equal(last, other);
        op->args[1] = arg;
        *op = was;
    }
    op->check_length = "n * 1"; /* as it evaluates */
    basis_of(op, "n=1000000", "NVRTC 13.0", other);
    assert_string_equal(first, other);
    op->reference_text = "//@ error 'no reference'\n";
    struct problem prob = { .size = { 5 } };
    assert_int_equal(source_basis(op, &prob, 0, &gpu, "", other, &err), ERR_INVALID);
    assert_non_null(strstr(err.msg, "no reference"));
    op_free(op);
}

static void test_ops_that_ship(void **state)
{
    (void)state;
    static const char *const names[] = { "transpose", "dot", "gemm" };
    for (int i = 0; i < 3; i++) {
        struct op *op;
        struct err err = { 0 };
        if (op_load(names[i], &op, &err))
            fail_msg("%s", err.msg);
        for (int v = -1; v < op->nvariants; v++) {
            struct config c = { .variant = v };
            struct buf out = { 0 };
            if (source_render(op, v < 0 ? NULL : &c, 0, &gpu, &out, &err))
                fail_msg("%s", err.msg);
            const char *kernel = v < 0 ? op->reference.kernel : op->variants[v].launches[0].kernel;
            assert_non_null(strstr(buf_text(&out), kernel));
            buf_free(&out);
        }
        op_free(op);
    }
}

static int setup(void **state)
{
    (void)state;
    return setenv("CUTUNE_HOME", SOURCE_DIR, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill),          cmocka_unit_test(test_broken), cmocka_unit_test(test_defines),
        cmocka_unit_test(test_types),         cmocka_unit_test(test_key),    cmocka_unit_test(test_basis),
        cmocka_unit_test(test_ops_that_ship),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
