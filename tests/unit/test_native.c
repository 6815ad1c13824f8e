/* Sources as they are: native languages, several files, macros around headers. */
#include <sys/stat.h>

#include "device/device.h"
#include "model/head.h"
#include "model/kernel.h"
#include "op/load.h"
#include "source/source.h"
#include "unit.h"

/* An op whose reference and variant say this beside their launch. */
static int load(const char *reference, const char *variant, struct op **op, struct err *err)
{
    char script[2048];
    snprintf(script, sizeof script,
             "return op { name = 't', problem = { size 'n' }, types = { T = { 'f16', 'u8' } },\n"
             "args = { output('out', 'T', { 'n' }), value 'n' }, shapes = { { n = 5 } }, check = 'exact',\n"
             "reference = { launch = { kernel = 'ref' }, %s },\n"
             "variants = { { name = 'v', params = { { 'P', 1, 2 }, { 'G', 'a', 'b' } }, %s %s } },\n"
             "defaults = { { variant = 'v' } } }",
             reference, strstr(variant, "launch") ? "" : "launch = { kernel = 'k' }, ", variant);
    write_file("t.lua", script);
    *err = (struct err){ 0 };
    return op_load(in_dir("t.lua"), op, err);
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
    static const char head[] = "//cutune entry k\n";
    bool named = !strncmp(buf_text(&out), head, strlen(head));
    assert_int_equal(named, b->compiling->expressions);
    assert_string_equal(buf_text(&out) + (named ? strlen(head) : 0), text);
    buf_free(&out);
}

#define PARAMETERS "#define P 1\n#define G_a 1\n#define G_b 2\n#define G G_a\n"

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
              "#line 1 \"k.cu\"\nk\n#line 14 \"lua.cu, filled\"\n1\n#line 1 \"i.h\"\ni\n#line 18 \"lua.cu, filled\"\n"
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

/* Options and C++ names stand in the source's head, so all that knows a source knows them. */
static void test_head(void **state)
{
    (void)state;
    write_file("k.cu", "k\n");
    struct op *op =
        loaded("template = 'k.cu', language = 'cuda'",
               "template = 'k.cu', language = 'cuda', options = { '-G', '-maxrregcount=$(128 / P)', '--std=c++$(T_bytes)' }");
    struct buf out = { 0 };
    assert_int_equal(source_render(op, &(struct config){ .at = { 1 } }, 0, &cuda_backend.sample, &out, NULL), 0);
    static const char head[] =
        "//cutune option -G\n//cutune option -maxrregcount=64\n//cutune option --std=c++2\n//cutune entry k\n";
    assert_int_equal(strncmp(buf_text(&out), head, strlen(head)), 0);
    struct head h;
    assert_int_equal(head_read(out.data, &h, NULL), 0);
    assert_true(h.noptions == 3 && h.nentries == 1 && !h.headers && head_asks(out.data));
    assert_string_equal(h.options[1], "-maxrregcount=64");
    assert_string_equal(h.entries[0], "k");
    head_free(&h);
    char was[HASH_HEX], now[HASH_HEX];
    assert_int_equal(variant_made(op, &op->variants[0], was, NULL), 0);
    op->variants[0].build.options[0].text = "-lineinfo";
    assert_int_equal(variant_made(op, &op->variants[0], now, NULL), 0);
    assert_string_not_equal(was, now);
    op_free(op);
    buf_clear(&out);

    /* of the dialect: each compiler has its own */
    op = loaded("template = 'k.cu'", "template = 'k.cu', options = { cuda = { '-G' }, opencl = { '-cl-mad-enable', '-w' } }");
    assert_int_equal(source_render(op, &(struct config){ 0 }, 0, &opencl_backend.sample, &out, NULL), 0);
    assert_int_equal(strncmp(buf_text(&out), "//cutune option -cl-mad-enable\n//cutune option -w\n// The dialect", 60), 0);
    assert_false(head_asks(out.data));
    op_free(op);
    buf_free(&out);
}

/* What Lua makes is checked like what is written; so is what a database says. */
static void test_options_that_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "-I/etc",
        "-I.",
        "-include",
        "-include=/etc/passwd",
        "--pre-include=a",
        "-o",
        "@options",
        "",
        "--pch",
        "-use_fast_mat",
        "-use_fast_math=",
        "-use_fast_math -I.",
        "--dlink-time-opt",
        "-std=",
        "-Xptxas=-O2 -I.",
        "-D",
        "-DX=\"/a\"",
        "-DX=/etc/a",
        "--time=/tmp/x",
        "--define-macro",
        "-G\t",
        " -G",
        "-G\n-I/",
        "--include-path=/etc",
        "-isystem",
        "--gpu-architecture=sm_90",
        "-arch=sm_90",
        "--pch-dir=/tmp",
        "-Xptxas=a/b",
        "-Xptxas=options", /* a file to ptxas */
        "-Xptxas=-optf=options",
        "--ptxas-options=--options-file=options",
        "-Xptxas=-o=out",
        "-Xptxas=--output-file=out",
        "-Xptxas=-v,-o=out",
        "--split-compile=100000",
    };
    static const char *const good[] = { "-use_fast_math",   "-std=c++20",          "-DX",        "-DX=ns::y",
                                        "-Xptxas=-dlcm=cg", "--ptxas-options=-O2", "-Xptxas=-v", "--maxrregcount=32" };
    struct err err;
    write_file("k.cu", "k\n");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!compile_option(cuda_backend.compiling, bad[i], &err))
            fail_msg("'%s' is accepted", bad[i]);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (compile_option(cuda_backend.compiling, good[i], &err))
            fail_msg("%s", err.msg);
    struct op *op = loaded("template = 'k.cu', language = 'cuda'",
                           "template = 'k.cu', language = 'cuda', options = { '$(P == 2 and \"-I/etc\" or \"-G\")' }");
    struct buf out = { 0 };
    assert_int_equal(source_render(op, &(struct config){ .at = { 0 } }, 0, &cuda_backend.sample, &out, &err), 0);
    assert_int_equal(source_render(op, &(struct config){ .at = { 1 } }, 0, &cuda_backend.sample, &out, &err), ERR_INVALID);
    assert_non_null(strstr(err.msg, "'-I/etc' is none of the options"));
    op_free(op);
    buf_clear(&out);
    op = loaded("template = 'k.cu', language = 'cuda'",
                "template = 'k.cu', language = 'cuda', options = { '-D$(P == 2 and \"T_bytes\" or \"T_byte\")=$(P / 1)' }");
    assert_int_equal(source_render(op, &(struct config){ .at = { 0 } }, 0, &cuda_backend.sample, &out, &err), 0);
    assert_int_equal(strncmp(buf_text(&out), "//cutune option -DT_byte=1.0\n", 29), 0); /* a macro may be any number */
    assert_int_equal(source_render(op, &(struct config){ .at = { 1 } }, 0, &cuda_backend.sample, &out, &err), ERR_INVALID);
    assert_string_equal(err.msg, "'-DT_bytes=2.0': T_bytes is a macro of the source's already: choose another name");
    op_free(op);
    buf_free(&out);

    static const char *const heads[] = { "//cutune option\n",     "//cutune entry \n",    "//cutune hop x\n",
                                         "//cutune entry a\"b\n", "//cutune entry a\\\n", "//cutune entry f<1>;\n" };
    struct head h;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        assert_int_equal(head_read(heads[i], &h, &err), ERR_UNSUPPORTED);
        head_free(&h);
    }
    assert_int_equal(head_read("//cutune option -G", &h, &err), 0); /* no line: text */
    assert_int_equal(h.noptions, 0);
    head_free(&h);
    struct buf many = { 0 };
    for (int i = 0; i <= MAX_OPTIONS; i++)
        buf_str(&many, "//cutune option -G\n");
    assert_int_equal(head_read(many.data, &h, &err), ERR_UNSUPPORTED);
    head_free(&h);
    buf_free(&many);
}

static void need_nvrtc(void) /* before what is skipped without it makes anything */
{
    const struct compile_job job = { .source = "", .portable = true };
    struct buf ptx = { 0 };
    int rc = compile_once(&cuda_backend.sample, &job, &ptx, NULL);
    buf_free(&ptx);
    if (rc == ERR_UNSUPPORTED)
        skip();
}

/* Compiles the variant, with its parameters' first values. */
static bool compiles(const struct op *op, struct buf *ptx, struct buf *entries, struct err *err)
{
    struct buf source = { 0 };
    struct devspec sm_90 = cuda_backend.sample;
    sm_90.cc = 90;
    assert_int_equal(source_render(op, &(struct config){ 0 }, 0, &sm_90, &source, NULL), 0);
    const struct compile_job job = { .source = source.data, .portable = true, .entries = entries };
    int rc = compile_once(&sm_90, &job, ptx, err);
    buf_free(&source);
    return !rc;
}

#define TEMPLATE_OP                                                                                                                \
    "template = 'tpl.cu', language = 'cuda', launch = { { kernel = 'ns::k<T, 4 * P>' }, { kernel = 'plain' }, { kernel = 'c' } }"

/* A C++ template is an entry: the compiler tells what the code calls it. */
static void test_entries(void **state)
{
    (void)state;
    need_nvrtc();
    write_file("tpl.cu",
               "#include <cuda_fp16.h>\nnamespace ns { template <typename X, int N> __global__ void k(X *p, long long n)\n"
               "{ if (threadIdx.x < n) p[threadIdx.x] = (X)(float)N; } }\n"
               "__global__ void plain(T *, long long) { }\nextern \"C\" __global__ void c(T *, long long) { }\n");
    struct op *op;
    struct err err;
    struct buf ptx = { 0 }, entries = { 0 };
    if (load("template = 'tpl.cu', language = 'cuda'", TEMPLATE_OP, &op, &err))
        fail_msg("%s", err.msg);
    if (!compiles(op, &ptx, &entries, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(buf_text(&entries), "_ZN2ns1kI6__halfLi4EEEvPT_x\n_Z5plainP6__halfx\nc\n");
    assert_non_null(strstr(buf_text(&ptx), ".entry _ZN2ns1kI6__halfLi4EEEvPT_x("));
    struct buf bytes = { 0 };
    struct op *kernel;
    kernel_put(&bytes, op, &(struct config){ 0 });
    assert_int_equal(kernel_get(bytes.data, bytes.len, &kernel, NULL), 0);
    assert_int_equal(kernel_call(kernel, entries.data, entries.len, NULL), 0);
    assert_string_equal(kernel->variants[0].launches[0].kernel, "_ZN2ns1kI6__halfLi4EEEvPT_x");
    assert_int_equal(kernel_call(kernel, "a\nb\n", 4, &err), ERR_CORRUPT);
    assert_int_equal(kernel_call(kernel, "a\n\"\nc\n", 6, &err), ERR_CORRUPT);
    op_free(kernel);
    op_free(op);
    buf_free(&bytes);
    buf_free(&ptx);
    buf_free(&entries);
}

static void test_entries_that_fail(void **state)
{
    (void)state;
    need_nvrtc();
    static const struct {
        const char *kernel, *says;
    } bad[] = {
        { "nope<T>", "identifier \"nope\" is undefined" },
        { "over", "cannot determine which instance of overloaded function" },
    };
    write_file("over.cu", "__global__ void over(int *) { }\n__global__ void over(float *) { }\n");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char variant[200];
        struct op *op;
        struct err err;
        struct buf ptx = { 0 }, entries = { 0 };
        snprintf(variant, sizeof variant, "template = 'over.cu', language = 'cuda', launch = { kernel = '%s' }", bad[i].kernel);
        if (load("template = 'over.cu', language = 'cuda'", variant, &op, &err))
            fail_msg("%s", err.msg);
        if (compiles(op, &ptx, &entries, &err) || !strstr(err.msg, bad[i].says))
            fail_msg("%s: should say '%s', says '%s'", bad[i].kernel, bad[i].says, err.msg);
        op_free(op);
        buf_free(&ptx);
        buf_free(&entries);
    }
}

/* Folders of the script: for "..." after its own folder, for <...> alone. In < > no macro of ours is defined. */
static void test_include_dirs(void **state)
{
    (void)state;
    make_folder("inc");
    make_folder("inc/deep");
    write_file("inc/a.h", "a\n");
    write_file("inc/own.h", "not this\n");
    write_file("own.h", "own\n");
    write_file("inc/deep/b.h", "#include \"c.h\"\nb\n");
    write_file("inc/deep/c.h", "c\n");
    write_file("d.cu", "#include \"a.h\"\n#include \"own.h\"\n#include <deep/b.h>\n#include <cuda_fp16.h>\nk\n");
    struct op *op =
        loaded("template = 'd.cu', language = 'cuda' }, include_dirs = { 'nowhere', 'inc'", "template = 'd.cu', language = 'cuda'");
    assert_int_equal(op->nincludes, 4);
    is_source(
        op, 1, &cuda_backend,
        TYPE PARAMETERS
        "#line 1 \"d.cu\"\n#line 1 \"inc/a.h\"\na\n#line 2 \"d.cu\"\n#line 1 \"own.h\"\nown\n#line 3 \"d.cu\"\n" HIDDEN
        "#line 3 \"d.cu\"\n#line 1 \"inc/deep/b.h\"\n#line 1 \"inc/deep/c.h\"\nc\n#line 2 \"inc/deep/b.h\"\nb\n#line 4 \"d.cu\"\n"
        "#include <cuda_fp16.h>\n" TYPE PARAMETERS "#line 5 \"d.cu\"\nk\n");
    op_free(op);
    op = loaded("template = 'k.cu' }, include_dirs = { 'inc'",
                "template = 'd.cu', language = 'opencl'"); /* a file of the script's will do */
    struct buf out = { 0 };
    struct err err = { 0 };
    assert_int_equal(source_render(op, &(struct config){ 0 }, 0, &opencl_backend.sample, &out, &err), ERR_INVALID);
    assert_non_null(strstr(err.msg, "d.cu:4: OpenCL C has no headers"));
    buf_free(&out);
    op_free(op);
    static const char *const bad[] = { "..", "/etc", "inc/..", ".git", "", "inc/", "./inc" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char reference[100];
        snprintf(reference, sizeof reference, "template = 'k.cu' }, include_dirs = { '%s'", bad[i]);
        if (load(reference, "template = 'k.cu'", &op, &err) >= 0 || !strstr(err.msg, "include_dirs: entry 1: "))
            fail_msg("'%s': %s", bad[i], err.msg);
    }
    make_folder("links");
    assert_int_equal(symlink("/etc", in_dir("links/etc")), 0);
    write_file("e.cu", "#include <etc/passwd>\n");
    assert_true(load("template = 'k.cu' }, include_dirs = { 'links'", "template = 'e.cu'", &op, &err) < 0);
    assert_non_null(strstr(err.msg, "a link out of the folder"));
}

/* Folders of the user's: the compiler reads them, and a hash of them is in the source. */
static void test_header_dirs(void **state)
{
    (void)state;
    char dir[] = "/tmp/cutune-test-headers-XXXXXX", path[256], was[HASH_HEX];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/lib.h", dir);
    const char *dirs[] = { dir };
    write_file("u.cu", "#include \"lib.h\"\nextern \"C\" __global__ void k(T *p, long long n) { *p = LIB; }\n");
    struct op *op;
    struct err err;
    assert_true(load("template = 'k.cu'", "template = 'u.cu', language = 'cuda'", &op, &err) < 0);
    assert_non_null(strstr(err.msg, "u.cu:1: there is no 'lib.h' in"));
    for (int way = 0; way < 2; way++) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f, "#define LIB %d\n#ifdef P\n#error P\n#endif\n", way);
        assert_int_equal(fclose(f), 0);
        if (op_load_with(in_dir("t.lua"), dirs, 1, &op, &err))
            fail_msg("%s", err.msg);
        assert_true(op->nheader_dirs == 1 && op->headers && op->nincludes == 1 && op->includes[0].outside);
        assert_true(!way || strcmp(was, op->headers));
        snprintf(was, sizeof was, "%s", op->headers);
        struct buf out = { 0 }, ptx = { 0 };
        struct devspec sm_90 = cuda_backend.sample;
        sm_90.cc = 90;
        assert_int_equal(source_render(op, &(struct config){ 0 }, 1, &sm_90, &out, NULL), 0);
        char head[100];
        snprintf(head, sizeof head, "//cutune headers %s\n//cutune entry k\n", was);
        assert_int_equal(strncmp(out.data, head, strlen(head)), 0);
        assert_non_null(strstr(out.data, "\n#include <lib.h>\n"));
        struct compile_job job = { .source = out.data, .portable = true, .nheader_dirs = 1, .header_dirs = op->header_dirs };
        int rc = compile_once(&sm_90, &job, &ptx, &err);
        if (!strstr(err.msg, "no NVRTC")) {
            assert_int_equal(rc, 0);
            job.nheader_dirs = 0;
            assert_int_equal(compile_once(&sm_90, &job, &ptx, &err), ERR_UNSUPPORTED);
            assert_non_null(strstr(err.msg, "--include-dir"));
        }
        struct buf bytes = { 0 };
        struct op *kernel;
        kernel_put(&bytes, op, &(struct config){ 0 }); /* none of it is kept */
        assert_int_equal(kernel_get(bytes.data, bytes.len, &kernel, NULL), 0);
        assert_true(!kernel->nheader_dirs && !kernel->headers);
        op_free(kernel);
        buf_free(&bytes);
        buf_clear(&bytes);
        op_put(&bytes, op); /* and a file that says otherwise is no kernel */
        assert_int_equal(kernel_get(bytes.data, bytes.len, &kernel, NULL), ERR_CORRUPT);
        buf_free(&bytes);
        buf_free(&out);
        buf_free(&ptx);
        op_free(op);
    }
    const char *missing[] = { "/nowhere" };
    assert_int_equal(op_load_with(in_dir("t.lua"), missing, 1, &op, &err), ERR_INVALID);
    assert_non_null(strstr(err.msg, "there is no 'lib.h'"));
    assert_int_equal(load("template = 'k.cu'", "template = 'k.cu'", &op, &err), 0);
    op_free(op);
    assert_int_equal(op_load_with(in_dir("t.lua"), missing, 1, &op, &err), ERR_NOTFOUND);
    assert_non_null(strstr(err.msg, "--include-dir '/nowhere': there is no such folder"));
    assert_null(op);
    unlink(path);
    rmdir(dir);
}

/* An input that is found in an array of the kernels'. */
static void test_constants(void **state)
{
    (void)state;
    need_nvrtc();
    char path[256];
    struct op *op;
    struct err err = { 0 };
    struct buf ptx = { 0 }, entries = { 0 };
    snprintf(path, sizeof path, "%s/constant.lua", TESTS_DIR "/cli/ops");
    if (op_load(path, &op, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(op->reference.launches->nargs, 3);
    assert_int_equal(op->reference.launches->args[2], 3);
    assert_true(arg_is_constant(op, op->variants, 2));
    if (!compiles(op, &ptx, &entries, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(buf_text(&entries), "_Z3sumIfLi64EEvPT_PKS0_x\nd_taps\n");
    struct buf bytes = { 0 };
    struct op *kernel;
    kernel_put(&bytes, op, &(struct config){ 0 });
    assert_int_equal(kernel_get(bytes.data, bytes.len, &kernel, NULL), 0);
    assert_int_equal(kernel_call(kernel, "a\nb\n", 4, NULL), 0);
    assert_string_equal(kernel->args[2].constant, "b");
    assert_int_equal(kernel_call(kernel, "a\n", 2, &err), ERR_CORRUPT);
    kernel->args[0].constant = "c"; /* an output; and what is passed: no kernel has such */
    buf_clear(&bytes);
    op_put(&bytes, kernel);
    struct op *bad;
    assert_int_equal(kernel_get(bytes.data, bytes.len, &bad, NULL), ERR_CORRUPT);
    kernel->args[0].constant = NULL;
    kernel->args[1].constant = "c";
    buf_clear(&bytes);
    op_put(&bytes, kernel);
    assert_int_equal(kernel_get(bytes.data, bytes.len, &bad, NULL), ERR_CORRUPT);
    op_free(kernel);
    buf_clear(&bytes);
    interface_put(&bytes, op);
    assert_int_equal(interface_get(bytes.data, bytes.len, &kernel, NULL), 0);
    assert_null(kernel->args[2].constant);
    op_free(kernel);
    op_free(op);
    buf_free(&bytes);
    buf_free(&ptx);
    buf_free(&entries);
}

/* In the dialect, a pointer to what no kernel writes. */
static void test_constant_pointers(void **state)
{
    (void)state;
    write_file("p.cu", "KERNEL void k(GLOBAL T *out, int64 n) { }\nDEVICE T at(CONSTANT const T *p) { return *p; }\n");
    struct op *op = loaded("template = 'k.cu'", "template = 'p.cu'");
    struct buf out = { 0 };
    const struct config c = { 0 };
    assert_int_equal(source_render(op, &c, 1, &opencl_backend.sample, &out, NULL), 0);
    assert_non_null(strstr(out.data, "#define CONSTANT __constant\n#define T uint8\n"));
    buf_clear(&out);
    assert_int_equal(source_render(op, &c, 1, &cuda_backend.sample, &out, NULL), 0);
    assert_non_null(strstr(out.data, "#define CONSTANT \n#define T uint8\n"));
    buf_clear(&out);
    assert_int_equal(source_render(op, NULL, 1, &opencl_backend.sample, &out, NULL), 0);
    assert_null(strstr(out.data, "CONSTANT"));
    buf_free(&out);
    op_free(op);
}

/* In the dialect, C's functions of floats where the language calls them otherwise. Only those that a source has are in its key. */
static void test_float_functions(void **state)
{
    (void)state;
    write_file("f.cu", "KERNEL void k(GLOBAL T *out, int64 n) { out[0] = fmaxf(sqrtf(n), 2); }\n");
    struct op *op = loaded("template = 'k.cu'", "template = 'f.cu'");
    struct buf out = { 0 };
    const struct config c = { 0 };
    assert_int_equal(source_render(op, &c, 1, &opencl_backend.sample, &out, NULL), 0);
    assert_non_null(
        strstr(out.data, "#define sqrtf(x) sqrt((float)(x))\n#define fmaxf(x, y) fmax((float)(x), (float)(y))\n#define T "));
    assert_null(strstr(out.data, "expf"));
    buf_clear(&out);
    assert_int_equal(source_render(op, &c, 1, &cuda_backend.sample, &out, NULL), 0);
    assert_null(strstr(out.data, "define sqrtf"));
    buf_clear(&out);
    assert_int_equal(source_render(op, NULL, 1, &opencl_backend.sample, &out, NULL), 0);
    assert_null(strstr(out.data, "sqrtf"));
    buf_free(&out);
    op_free(op);
    op = loaded("template = 'k.cu'", "template = 'f.cu', language = 'opencl'");
    assert_int_equal(source_render(op, &c, 1, &opencl_backend.sample, &out, NULL), 0);
    assert_null(strstr(out.data, "define sqrtf"));
    buf_free(&out);
    op_free(op);
}

static void test_constants_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *constant, *args, *says;
    } bad[] = {
        { "'d'", "", NULL }, /* passed: a pointer to CONSTANT */
        { "'d'", ", args = { 'out', 'n' }", "variant v: no launch passes 'x', and only CUDA has __constant__ arrays" },
        { "'d;'", "", "argument x: only an input can be constant" },
        { "''", "", "constant: must have 1 to" },
        { "5", "", "constant: must be a text" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char script[1024];
        struct op *op;
        struct err err = { 0 };
        snprintf(
            script, sizeof script,
            "return op { name = 't', problem = { size 'n' }, types = { T = { 'f32' } },\n"
            "args = { output('out', 'T', { 'n' }), input('x', 'T', { 3 }, { constant = %s }), value 'n' },\n"
            "shapes = { { n = 5 } }, check = 'exact', reference = { template = 'k.cu', launch = { kernel = 'ref' } },\n"
            "variants = { { name = 'v', template = 'k.cu', launch = { kernel = 'k'%s } } }, defaults = { { variant = 'v' } } }",
            bad[i].constant, bad[i].args);
        write_file("c.lua", script);
        int rc = op_load(in_dir("c.lua"), &op, &err);
        if (bad[i].says ? !rc || !strstr(err.msg, bad[i].says) : rc)
            fail_msg("%s %s: %s", bad[i].constant, bad[i].args, err.msg);
        op_free(op);
    }
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
        { "template = 'k.cu', language = 'hip'", "variant v: language: 'hip' is neither cuda nor opencl" },
        { "template = 'k.cu', language = 'null'", "variant v: language: 'null' is neither cuda nor opencl" },
        { "template = 'k.cu', language = true", "variant v: language: must be a text" },
        { "template = 'k.cu', language = 'cuda', requires = { backend = 'opencl' }",
          "variant v: language: is that of cuda, but requires says backend = 'opencl'" },
        { "template = 'k.cu', options = { '-G' }", "variant v: options: whose compiler takes them?" },
        { "template = 'k.cu', options = { null = { '-G' } }", "variant v: options: unknown field 'null'; known here: cuda opencl" },
        { "template = 'k.cu', options = { cuda = { '-I/' } }", "variant v: options: entry 1: '-I/' is none of the options" },
        { "template = 'k.cu', options = { opencl = { '-G' } }", "variant v: options: entry 1: '-G' is none of the options" },
        { "template = 'k.cu', language = 'cuda', options = { '-DT=int' }",
          "variant v: options: '-DT=int': 'T' is a type: choose another name" },
        { "template = 'k.cu', language = 'cuda', options = { '--define-macro=P=$(P)' }",
          "'--define-macro=P=$(P)': 'P' is a parameter" },
        { "template = 'k.cu', language = 'cuda', options = { '-G', '-UT_bits' }",
          "'-UT_bits': 'T_bits' is what templates get of a type" },
        { "template = 'k.cu', language = 'cuda', options = { '-Dn=5' }", "'-Dn=5': 'n' is an argument" },
        { "template = 'k.cu', language = 'cuda', options = { 5 }", "variant v: options: entry 1: must be a text" },
        { "template = 'k.cu', language = 'cuda', options = '-G'", "variant v: options: must be a table" },
        { "template = 'k.cu', launch = { kernel = 'f<T>' }", "variant v: kernel 'f<T>': only CUDA C++ has such names" },
        { "template = 'k.cu', language = 'opencl', launch = { kernel = 'f<T>' }", "only CUDA C++ has such names" },
        { "template = 'k.cu', language = 'cuda', launch = { kernel = 'f<T>; x' }", "is no name of a kernel" },
        { "template = 'k.cu', language = 'cuda', launch = { kernel = 'f g' }", "is no name of a kernel" },
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
    return make_dir(state) || setenv("CUTUNE_HOME", SOURCE_DIR, 1) ? -1 : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_languages),
        cmocka_unit_test(test_several_files),
        cmocka_unit_test(test_macros_and_headers),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_options_that_are_refused),
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_entries_that_fail),
        cmocka_unit_test(test_include_dirs),
        cmocka_unit_test(test_header_dirs),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_constant_pointers),
        cmocka_unit_test(test_float_functions),
        cmocka_unit_test(test_constants_that_are_refused),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, setup, remove_dir);
}
