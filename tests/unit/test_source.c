/* From a configuration to source: #define lines, the template language, keys. */
#include "op/load.h"
#include "source/source.h"
#include "source/template.h"
#include "unit.h"

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
    static const struct template_file preludes[] = { { "prelude_cuda.h", "// cuda\n" }, { "prelude_opencl.h", "// opencl\n" } };
    op->npreludes = 2;
    op->preludes = arena_array(op->arena, 2, sizeof preludes[0]);
    memcpy(op->preludes, preludes, sizeof preludes);
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
                        "#define GRID_xy 1\n#define GRID_x 2\n#define GRID GRID_x\n#line 1 \"v.cu\"\nbody\n");
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
                        "#define GRID_xy 1\n#define GRID_x 2\n#define GRID GRID_xy\nc128 16 -1 xy opencl\n");
    buf_free(&out);
    op_free(op);
}

static void carry(struct op *op, const char *name, const char *text, bool shared)
{
    if (!op->includes)
        op->includes = arena_array(op->arena, MAX_INCLUDES, sizeof *op->includes);
    op->includes[op->nincludes++] = (struct include){ name, text, shared, false };
}

/* What stands behind the definitions. */
static void behind(const struct op *op, struct buf *out, const char *text)
{
    struct config c = { .at = { 0, 0, 1 } };
    struct err err = { 0 };
    buf_clear(out);
    if (source_render(op, &c, 0, &gpu, out, &err))
        fail_msg("%s", err.msg);
    const char *at = strstr(buf_text(out), "#define GRID GRID_xy\n");
    assert_non_null(at);
    assert_string_equal(at + strlen("#define GRID GRID_xy\n"), text);
}

static void test_includes(void **state)
{
    (void)state;
    struct buf out = { 0 };
    struct op *op = hand_made("one\n# include \"a.h\" // x\ntwo\n");
    carry(op, "a.h", "in a", false);
    behind(op, &out, "#line 1 \"v.cu\"\none\n#line 1 \"a.h\"\nin a\n#line 3 \"v.cu\"\ntwo\n");
    op->variants[0].template_text = "$(N)\n#include \"$('a').h\"\ntwo\n"; /* lines of what was filled */
    struct config c = { .at = { 0, 0, 1 } };
    buf_clear(&out);
    assert_int_equal(source_render(op, &c, 0, &gpu, &out, NULL), 0);
    const char *mark = strstr(buf_text(&out), ", filled\"\ntwo\n");
    assert_non_null(mark);
    int lines = 1;
    for (const char *at = buf_text(&out); at < strstr(mark, "two"); at++)
        lines += *at == '\n';
    char says[40];
    snprintf(says, sizeof says, "#line %d \"v.cu, filled\"", lines);
    assert_non_null(strstr(buf_text(&out), says));

    /* Beside the file that includes it, then beside the script, then among the templates. */
    op->variants[0].template_text = "#include \"s/b.h\"\n#include \"t.h\"\n";
    carry(op, "s/b.h", "#include \"c.h\"\n#include \"a.h\"\n", false);
    carry(op, "s/c.h", "c of s", false);
    carry(op, "c.h", "c", false);
    carry(op, "t.h", "#include \"a.h\"\n", true);
    carry(op, "a.h", "a of templates", true);
    behind(op, &out,
           "#line 1 \"v.cu\"\n#line 1 \"s/b.h\"\n#line 1 \"s/c.h\"\nc of s\n#line 2 \"s/b.h\"\n#line 1 \"a.h\"\nin a\n"
           "#line 3 \"s/b.h\"\n#line 2 \"v.cu\"\n#line 1 \"t.h\"\n#line 1 \"a.h\"\na of templates\n#line 2 \"t.h\"\n"
           "#line 3 \"v.cu\"\n");

    /* What is surely compiled once is put in once; what may not be stands twice. */
    carry(op, "g.h", "#ifndef G\n#define G\n#include \"g.h\"\n#endif\n", false);
    op->variants[0].template_text = "#if X\n#include \"g.h\"\n#endif\n#include \"g.h\"\n#include \"g.h\"\n";
    behind(op, &out,
           "#line 1 \"v.cu\"\n#if X\n#line 1 \"g.h\"\n#ifndef G\n#define G\n\n#endif\n#line 3 \"v.cu\"\n#endif\n"
           "#line 1 \"g.h\"\n#ifndef G\n#define G\n\n#endif\n#line 5 \"v.cu\"\n\n");
    carry(op, "o.h", "#pragma once\n#include \"o.h\"\no\\", false);
    op->variants[0].template_text = "#include \"o.h\"\n#include \"o.h\"\n";
    behind(op, &out,
           "#line 1 \"v.cu\"\n#ifndef CUTUNE_INCLUDED_7\n#define CUTUNE_INCLUDED_7\n#line 1 \"o.h\"\n\n\no\\\n\n#endif\n"
           "#line 2 \"v.cu\"\n\n");
    op_free(op);
    buf_free(&out);
}

/* What cannot be put in: said at once where it is surely compiled, else by a compiler that gets there. */
static void test_asking_for_headers(void **state)
{
    (void)state;
    struct op *op = hand_made("#ifdef __has_include\n#if defined(__has_include) && __has_include(<cuda_fp16.h>)\n#endif\n#endif\n");
    struct buf out = { 0 };
    assert_int_equal(source_render(op, &(struct config){ .at = { 0, 0, 1 } }, 0, &gpu, &out, NULL), 0);
    buf_free(&out);
    op_free(op);
}

static void test_includes_that_fail(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "\n#include \"no.h\"\n", "v.cu:2: there is no \"no.h\"" },
        { "$(N)\n#include \"$('/etc/')passwd\"\n", "v.cu:2: \"/etc/passwd\" is no file below" },
        { "#include NAME\n", "v.cu:1: an #include wants the name of a file in quotes, not a macro" },
        { "#include_next \"a.h\"\n", "in quotes" },
        { "#import \"a.h\"\n", "in quotes" },
        { "#include </etc/passwd>\n", "no / in front" },
        { "#include <../x>\n", "no / in front" },
        { "#if X\n#elif __has_include(\"/etc/passwd\")\n#endif\n", "v.cu:2: __has_include and the like are for headers" },
        { "#if defined(X) && __has_include /**/ ( < ../x>)\n#endif\n", "v.cu:1: __has_include" },
        { "#if __has_include(</x>)\n#endif\n", "v.cu:1: __has_include" },
        { "#if __has_include(X)\n#endif\n", "v.cu:1: __has_include" },
        { "#if __has_\\\nembed(\"x\")\n#endif\n", "v.cu:1: __has_include" },
        { "#define has __has_include_next\n", "v.cu:1: __has_include" },
        /* These hide an #include from us, or a comment from some compiler. */
        { "#define X R\"(\" /* )\"\n", "v.cu:1: a raw string" },
        { "\n#define X R\"(\n/*)\"\n", "v.cu:2: a raw string" },
        { "const char *s = u8R\"(\" /* )\"\n", "v.cu:1: a raw string" },
        { "// a ?\?/\n#include \"/etc/passwd\"\n", "v.cu:1: a trigraph" },
        { "// a \\ \n#include \"/etc/passwd\"\n", "v.cu:1: a blank behind" },
        { "/* *\\ \n/\nint i; // */\n", "v.cu:1: a blank behind" },
        { "/\\\t\n* */\n", "v.cu:1: a blank behind" },
        { "#define X 3'/*'\n", "v.cu:1: an apostrophe" },
        { "#define X 0xA'B/*\n*/ #include \"/etc/passwd\"\n", "v.cu:1: an apostrophe" },
        { "#define X u8'\"' R\"(\n", "v.cu:1: an apostrophe" },
        { "#include \"odd.h\"\n", "odd.h:2: a raw string" },
        { "#include \"self.h\"\n", "self.h:2: a file that includes itself wants" },
        { "#include \"comment.h\"\n", "comment.h: its last comment has no end" },
        { "#include \"if.h\"\n", "if.h: its last #if has no end" },
        { "#include \"endif.h\"\n", "endif.h:1: #endif without #if" },
        { "#include \"bomb0.h\"\n", "larger than 16 MB" },
    };
    struct config c = { .at = { 0, 0, 1 } };
    struct op *op = hand_made("");
    char names[20][20], texts[20][60];
    carry(op, "self.h", "\n#include \"self.h\"\n", false);
    carry(op, "odd.h", "\nLR\"()\"", false);
    carry(op, "comment.h", "/*", false);
    carry(op, "if.h", "#if 1\n", false);
    carry(op, "endif.h", "#endif\n", false);
    for (int i = 0; i < 20; i++) { /* twice as much each time */
        snprintf(names[i], sizeof names[i], "bomb%d.h", i);
        snprintf(texts[i], sizeof texts[i], "#include \"bomb%d.h\"\n#include \"bomb%d.h\"\n", i + 1, i + 1);
        carry(op, names[i], i < 19 ? texts[i] : "int x;\n", false);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct buf out = { 0 };
        struct err err = { 0 };
        op->variants[0].template_text = bad[i].text;
        int rc = source_render(op, &c, 0, &gpu, &out, &err);
        if (rc != ERR_INVALID || !strstr(err.msg, bad[i].says))
            fail_msg("%s: should say '%s', says '%s'", bad[i].text, bad[i].says, rc ? err.msg : "nothing");
        buf_free(&out);
    }
    struct buf out = { 0 };
    op->variants[0].template_text = "/* ?\?/ \\ \n R\"( */ const char *s = \"R\" XR\"\" \"R\" /* 1'/* */; int i = 1'000; // 'x\n"
                                    "#if X\n#include \"no.h\"\n#include NAME\n#include \"self.h\"\nR\"(\n#endif\n";
    assert_int_equal(source_render(op, &c, 0, &gpu, &out, NULL), 0);
    assert_non_null(strstr(buf_text(&out), "\n#error a raw string"));
    assert_non_null(strstr(buf_text(&out), "#error there is no \"no.h\""));
    assert_non_null(strstr(buf_text(&out), "\n#error an #include wants"));
    assert_null(strchr(strstr(buf_text(&out), "#error"), '\''));
    buf_free(&out);
    op_free(op);
}

/* PoCL looks for <...> in the current folder, whose files no key tells of. CUDA's compiler has headers of its own. */
static void test_no_headers_in_opencl(void **state)
{
    (void)state;
    struct devspec cpu = gpu;
    struct buf out = { 0 };
    struct err err = { 0 };
    struct config c = { .at = { 0, 0, 1 } };
    struct op *op = hand_made("#include <v.h>\n");
    snprintf(cpu.backend, sizeof cpu.backend, "opencl");
    assert_int_equal(source_render(op, &c, 0, &cpu, &out, &err), ERR_INVALID);
    assert_non_null(strstr(err.msg, "v.cu:1: OpenCL C has no headers"));
    buf_clear(&out);
    assert_int_equal(source_render(op, &c, 0, &gpu, &out, NULL), 0);
    assert_non_null(strstr(buf_text(&out), "#include <v.h>\n"));
    op->variants[0].template_text = "#ifdef BACKEND_CUDA\n#include <v.h>\n#endif\n";
    buf_clear(&out);
    assert_int_equal(source_render(op, &c, 0, &cpu, &out, NULL), 0);
    assert_non_null(strstr(buf_text(&out), "#ifdef BACKEND_CUDA\n#error OpenCL C has no headers"));
    buf_free(&out);
    op_free(op);
}

/* A file that is included is a part of all that is made with it, and of nothing else. */
static void test_includes_are_in_the_hashes(void **state)
{
    (void)state;
    char was[3][HASH_HEX], now[3][HASH_HEX];
    struct problem prob = { { 0 } };
    struct op *op = hand_made("#include \"v.h\"\n");
    carry(op, "v.h", "#include \"deep.h\"\n", false);
    carry(op, "deep.h", "deep", false);
    carry(op, "r.h", "r", false);
    struct launch launch = { .kernel = "r" };
    op->reference =
        (struct variant){ .template_name = "r.cu", .template_text = "#include \"r.h\"\n", .nlaunches = 1, .launches = &launch };
    static const char *const others[] = { "another", NULL };
    for (int file = 1; file <= 2; file++) {
        for (int way = 0; way < 2; way++) {
            char(*to)[HASH_HEX] = way ? now : was;
            op->includes[file].text = way ? others[0] : "before";
            assert_int_equal(variant_made(op, &op->variants[0], to[0], NULL), 0);
            assert_int_equal(op_contract(op, to[1], NULL), 0);
            assert_int_equal(source_basis(op, &prob, 0, &gpu, "", to[2], NULL), 0);
        }
        bool of_variant = file == 1;
        assert_int_equal(strcmp(was[0], now[0]) != 0, of_variant);
        assert_int_equal(strcmp(was[1], now[1]) != 0, !of_variant);
        assert_int_equal(strcmp(was[2], now[2]) != 0, !of_variant);
    }
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
    struct plan *plan;
    char basis[HASH_HEX];
    if (problem_parse(op, shape, &prob, &err) || source_basis(op, &prob, 0, &gpu, "NVRTC 13.0", basis, &err) ||
        plan_new(op, c->variant, &plan, &err) || source_key(op, plan, c, &prob, 0, &gpu, source, basis, key, &err))
        fail_msg("%s", err.msg);
    plan_free(plan);
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
    struct template_file empty = { "prelude_cuda.h", "" };
    const struct op was = *op;
    for (int way = 0; way < 19; way++) {
        struct arg arg = op->args[1];
        struct launch launches[] = { op->reference.launches[0], op->reference.launches[1] };
        switch (way) {
        case 0:
            op->check.length = "1000000000";
            break;
        case 1:
            op->check.kind = CHECK_EXACT;
            break;
        case 2:
            op->reference.template_text = "KERNEL void sum_ref() { }";
            break;
        case 3:
            launches[0].block[0] = "77";
            op->reference.launches = launches;
            break;
        case 4:
            op->args[1].fill = op->args[1].fill == FILL_BITS ? FILL_NUMBERS : FILL_BITS;
            break;
        case 5:
            op->args[1].partial = true;
            break;
        case 6:
            op->preludes = &empty;
            break;
        case 7:
            op->args[1].data.sorted = true;
            break;
        case 8:
            op->args[1].data.range[0] = "0";
            op->args[1].data.range[1] = "n";
            break;
        case 12:
        case 13:
            op->init = op->variants[0];
            op->init.nparams = op->init.nworkspaces = op->init.nclear = op->init.nwhere = 0;
            op->init.template_text = way == 12 ? "KERNEL void init() { }" : "KERNEL void init() { ; }";
            op->init.nlaunches = 1;
            op->init.launches = op->reference.launches;
            op->args[1].data.init = true;
            break;
        case 10:
            op->args[1].data.file = (struct data_file){ .name = "x.bin", .digest = "one" };
            break;
        case 11:
            op->args[1].data.file = (struct data_file){ .name = "x.bin", .digest = "two" };
            break;
        case 14:
            op->check = (struct check){ CHECK_CLOSE, .rtol = NULL };
            break;
        case 15:
            op->check = (struct check){ CHECK_CLOSE, .rtol = "n * 1e-9" };
            break;
        case 16:
            op->args[1].own_check = true;
            op->args[1].check = op->check;
            break;
        case 17:
        case 18:
            op->args[1].data.peaks[0] = "1";
            op->args[1].data.peaks[1] = way == 17 ? "2" : "4 / 2";
            break;
        case 9:
            op->args[1].data.range[0] = "0";
            op->args[1].data.range[1] = "n * 1";
            break;
        }
        basis_of(op, "n=1000000", "NVRTC 13.0", other);
        assert_string_not_equal(first, other);
        basis_of(op, "n=1000000", "NVRTC 13.0", last);
        assert_string_equal(last, other);
        op->args[1] = arg;
        *op = was;
    }
    op->check.length = "n * 1"; /* as it evaluates */
    basis_of(op, "n=1000000", "NVRTC 13.0", other);
    assert_string_equal(first, other);
    op->reference.template_text = "//@ error 'no reference'\n";
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
            const char *kernel = v < 0 ? op->reference.launches->kernel : op->variants[v].launches[0].kernel;
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
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_defines),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_key),
        cmocka_unit_test(test_basis),
        cmocka_unit_test(test_ops_that_ship),
        cmocka_unit_test(test_includes),
        cmocka_unit_test(test_asking_for_headers),
        cmocka_unit_test(test_includes_that_fail),
        cmocka_unit_test(test_no_headers_in_opencl),
        cmocka_unit_test(test_includes_are_in_the_hashes),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
