/* Reading op scripts: the shipped ops, a message for each kind of mistake, and scripts that try to do harm. */
#include "op/read.h" /* before cmocka.h, which has a macro that is called fail, too */

#include <sys/stat.h>

#include "base/util.h"
#include "op/data_file.h"
#include "op/load.h"
#include "unit.h"

static int load(const char *script, struct op **op, struct err *err)
{
    write_file("t.lua", script);
    *err = (struct err){ 0 };
    return op_load(in_dir("t.lua"), op, err);
}

/* The smallest op, with each field in a place where a test can put another. */
struct field {
    const char *name, *text;
};
static const struct field good[] = {
    { "name", "'t'" },
    { "problem", "{ size 'n' }" },
    { "types", "{ T = { 'f32', 'i8' } }" },
    { "args", "{ output('out', 'T', { 'n' }), value 'n' }" },
    { "shapes", "{ { n = 5 } }" },
    { "reference", "{ template = 't.cu', launch = { kernel = 'ref' } }" },
    { "check", "'exact'" },
    { "variants", "{ { name = 'v', template = 't.cu', params = { { 'P', 1, 2 }, { 'G', 'a', 'b' } },"
                  " launch = { kernel = 'k', grid = 'ceildiv(n, 64*P)', block = '64*P' } } }" },
    { "defaults", "{ { variant = 'v' } }" },
};

static int load_with(const char *name, const char *text, struct op **op, struct err *err)
{
    char script[4096] = "return op {\n";
    bool known = false;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        bool here = strcmp(good[i].name, name) == 0;
        const char *value = here ? text : good[i].text;
        known = known || here;
        if (*value)
            snprintf(script + strlen(script), sizeof script - strlen(script), "%s = %s,\n", good[i].name, value);
    }
    if (!known && *name)
        snprintf(script + strlen(script), sizeof script - strlen(script), "%s = %s,\n", name, text);
    strcat(script, "}\n");
    return load(script, op, err);
}

/* Everything that can be wrong with a field, and what the message must say. */
static const struct {
    const char *field, *text, *says;
} slips[] = {
    { "name", "", "name is missing" },
    { "name", "5", "name: must be a text, not number" },
    { "name", "'a b'", "is no name" },
    { "name", "('x'):rep(64)", "is no name" },
    { "colour", "1", "unknown field 'colour'" },
    { "problem", "", "problem is missing" },
    { "problem", "3", "problem: must be a table, not number" },
    { "problem", "{}", "problem: has 0 entries" },
    { "problem", "{ 'n' }", "problem: axis 1: is a name alone: write size \"n\" (or stride, batch, flag)" },
    { "problem", "{ 7 }", "problem: axis 1: must be a table" },
    { "problem", "{ { kind = 'length', name = 'n' } }", "none of size, stride, batch, flag" },
    { "problem", "{ size 'when' }", "word of shapes" },
    { "problem", "{ size 'n', size 'n' }", "axis n" },
    { "problem", "{ [2] = size 'n' }", "without names or holes" },
    { "types", "{}", "types: must be" },
    { "types", "{ T = { 'f31' } }", "'f31' is no element type" },
    { "types", "{ T = { 'f32' }, U = { 'f32' } }", "for several type names" },
    { "types", "{ names = { 'T', 'U' }, { 'f32' } }", "row 1: must have 2 entries, and has 1" },
    { "types", "{ T = { 32 } }", "must be a text, not number" },
    { "types", "{ names = {}, { 'f32' } }", "types: names: has 0 entries" },
    { "types", "{ names = { 5 }, { 'f32' } }", "types: names: entry 1: must be a text, not number" },
    { "args", "{ value 'n' }", "no output" },
    { "args", "{ output('out', 'U', { 'n' }), value 'n' }", "neither a type name" },
    { "args", "{ output('out', 'T', 'n'), value 'n' }", "extent: must be a table" },
    { "args", "{ output('out', 'T', { 'q' }), value 'n' }", "q" },
    { "args", "{ output('out', 'T', { 'n' }, { fill = 'zero' }), value 'n' }", "neither bits nor numbers" },
    { "args", "{ output('out', 'T', { 'n' }, { partial = 1 }), value 'n' }", "partial: must be true or false, not number" },
    { "args", "{ output('out', 'T', { 'n' }, { part = true }), value 'n' }",
      "output(...): unknown option 'part'; known here: fill partial" },
    { "args", "{ output('out', 'T', { 'n' }, { 'partial' }), value 'n' }",
      "output(...): unknown option '1'; known here: fill partial" },
    { "args", "{ output('out', 'T', { 'n' }, 'bits'), value 'n' }", "output(...) wants its options as a table, not as a string" },
    { "args", "{ output('out', 'T', { 'n' }), inout('q', 'T', { 'n' }, { partial = true }) }",
      "known here: fill range peaks below sorted file init" },
    { "args", "{ output('out', 'T', { 'n' }, { sorted = true }) }", "output(...): unknown option 'sorted'" },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'i32', { 'n' }, { range = 5 }) }", "range: must be a table, not number" },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'i32', { 'n' }, { range = { 5 } }) }", "range: must have 2 entries" },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'i32', { 'n' }, { range = { 0, 1 }, below = 5 }) }",
      "argument q: has range and below" },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'i32', { 'n' }, { below = 5, fill = 'bits' }) }",
      "argument q: is filled with bits" },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'i32', { 'n' }, { below = 'BLOCK' }) }", "argument q, below: " },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'f32', { 'n' }, { below = 5 }) }",
      "argument q: below is for integers, not for f32" },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'c64', { 'n' }, { sorted = true }) }", "argument q: c64 has no order" },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'u8', { 'n' }, { range = { 0, 256 } }) }",
      "argument q: its data is 0 to 256: these are no bounds of u8" },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'f32', { 'n' }, { range = { 2, 2 } }) }",
      "argument q: its data is from 2 to below 2: these are no bounds of f32" },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'f32', { 'n' }, { fill = 'numbers', peaks = { 2, 2 } }) }",
      "argument q: its peaks are from 2 to below 2: these are no bounds of f32" },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'i8', { 'n' }, { fill = 'numbers', peaks = { 100, 200 } }) }",
      "argument q: its peaks are 100 to 200: these are no bounds of i8" },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'f32', { 'n' }, { fill = 'numbers', peaks = { 2, 3, 2 } }) }",
      "argument q: its peaks are along extent 2, and it has 1" },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'f32', { 'n' }, { peaks = { 2 } }) }", "peaks: has 1 entries; from 2 to 3 are possible" },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'i32', { 'n' }, { below = 'n', peaks = { 2, 3 } }) }",
      "argument q: has peaks: leave below, sorted and init away" },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'f32', { 'n' }, { peaks = { 2, 3 } }) }",
      "argument q: is filled with bits, which have no peaks: give it a range, or fill = \"numbers\"" },
    { "args", "{ output('out', 'T', { 'n' }, { check = { sum = 1 } }), input('q', 'f32', { 'n' }, { peaks = { 2, 3 } }) }",
      "argument q: its peaks are from 2 to below 3: of a sum they lie between -2 and 2" },
    { "args", "{ output('out', 'T', { 'n' }), output('out', 'T', { 'n' }) }", "argument out" },
    { "args", "{ output('T', 'T', { 'n' }) }", "'T' is both" },
    { "args", "{ output('out', 'T', { 'n' }), value('n', 'n', 'x') }", "'x' is no element type" },
    { "args", "{ output('out', 'T', { 'n // 0' }) }", "zero" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('s', 'f32') }",
      "argument 2: a scalar has a type and the value that it is tuned" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('s', nil, 1) }", "scalar(\"s\", \"f32\", 0.5)" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('s', 'Q', 1) }", "'Q' is neither a type name of this op nor an element type (f32, i64, u8, bf16, ...)" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('s', 'f32', true) }", "value: must be a text or a number" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('s', 'f32', 0/0) }", "must be a finite number, not" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('s', 'f32', '1 +') }", "scalar s: column" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('s', 'f32', 'P') }", "unknown name 'P'" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('s', 'u8', 256) }", "scalar s: `256` does not fit u8" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('s', 'T', 0.5) }", "for i8 and n=1 on cuda: scalar s" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('s', 'f16', 65520) }", "does not fit f16" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('s', 'f32', 1, { othre = 2 }) }", "unknown option 'othre'; known here: other" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('s', 'u8', 1, { other = 256 }) }", "scalar s, other: `256` does not fit u8" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('s', 'f32', 1, { other = 'P' }) }", "unknown name 'P'" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('n', 'f32', 1) }", "cannot have the name of an axis or a type" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('T', 'f32', 1) }", "argument T" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('out', 'f32', 1) }", "argument out: the name is taken" },
    { "args", "{ output('out', 'T', { 'n' }), scalar('s', 'f32', 't') , scalar('t', 'f32', 1) }",
      "scalar s: column 1: 't' is a scalar, which callers give at each launch" },
    { "args", "{ output('out', 'T', { 'alpha' }), scalar('alpha', 'i32', 5) }", "no expression can use it" },
    { "args", "{ scalar('s', 'f32', 1) }", "no output" },
    { "args", "{ output('out', 'T', { 'n' }), { kind = 'scalar', name = 's', type = 'f32', value = 1, fill = 'bits' } }",
      "unknown field 'fill'" },
    { "work", "{ byte = 'n' }", "work: unknown field 'byte'" },
    { "work", "{ bytes = 'n +' }", "column" },
    { "shapes", "{ { m = 5 } }", "unknown field 'm'; known here: n when" },
    { "shapes", "{ { n = 0 } }", "shape 1: n: must be there, and at least 1" },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'T') }", "argument 2: q: its extents are missing, as in input(\"q\", \"T\", { \"n\" })" },
    { "args", "{ output('out', 'T', { 'n' }), value('m', 2 * n, 'i32') }", "an expression is written as a text" },
    { "work", "{ bytes = ceildiv(n, 4) }", "(global 'ceildiv'): an expression is written as a text: \"ceildiv(n, BLOCK)\"" },
    { "shapes", "{ { n = 1.5 } }", "must be an integer, not a float" },
    { "shapes", "{ { n = 5, when = 'device.nothing' } }", "shape 1: when:" },
    { "shapes", "{ { n = 5, when = 'device.cc' } }", "shape 1: when:" },
    { "reference", "{ template = 'none.cu', launch = { kernel = 'r' } }", "there is no 'none.cu'" },
    { "reference", "{ template = '../t.cu', launch = { kernel = 'r' } }", "without folders" },
    { "reference", "{ template = 'empty.cu', launch = { kernel = 'r' } }", "empty" },
    { "reference", "{ template = 'huge.cu', launch = { kernel = 'r' } }", "larger than" },
    { "reference", "{ template = 't.cu', launch = { kernel = 'r', grid = 0 } }", "for f32 and n=1 on cuda" },
    { "check", "'roughly'", "check: must be \"exact\", \"close\", { sum = EXPRESSION } or { close = { rtol = ..., atol = ... } }" },
    { "check", "{ close = 1 }", "check: close: must be a table, not number: close = { rtol = 1e-5, atol = 1e-6 }" },
    { "check", "{ atol = 1e-6 }", "check: rtol and atol stand within close: { close = { rtol = 1e-5, atol = 1e-6 } }" },
    { "check", "{ close = { eps = 1 } }", "check: close: unknown field 'eps'; known here: rtol atol" },
    { "check", "{ close = {}, sum = 'n' }", "check: unknown field 'sum'" },
    { "check", "{ close = { rtol = -1e-5 } }", "check.rtol: `-1e-05` is -1e-05: it must be from 0 to" },
    { "check", "{ close = { rtol = 1 } }", "check.rtol: `1` is 1: it must be below 1, since with 1 a kernel that writes zeros is right" },
    { "check", "{ close = { rtol = 1e30 } }", "check.rtol: `1e+30` is 1e+30: it must be below 1" },
    { "check", "{ close = { atol = '1e300*1e300' } }", "check.atol: " },
    { "args", "{ output('out', 'T', { 'n' }, { rtol = 'n + 1' }) }", "argument out, check.rtol: `n + 1` is 2: it must be below 1" },
    { "check", "{ close = { atol = 'P' } }", "check.atol: column 1: unknown name 'P'" },
    { "check", "{ close = { rtol = \"T == 'f32'\" } }", "check.rtol: " },
    { "args", "{ output('out', 'T', { 'n' }, { rtol = 'n *' }) }", "argument out, check.rtol: column" },
    { "args", "{ output('out', 'T', { 'n' }, { rtol = {} }) }", "rtol: must be a text or a number" },
    { "args", "{ output('out', 'T', { 'n' }, { check = 'equal' }) }", "argument 1: check: must be" },
    { "args", "{ output('out', 'T', { 'n' }, { check = 'exact', rtol = 1 }) }", "check: rtol and atol belong to \"close\"" },
    { "args", "{ output('out', 'T', { 'n' }), input('q', 'T', { 'n' }, { rtol = 1 }) }", "input(...): unknown option 'rtol'" },
    { "args", "{ output('out', 'T', { 'n' }), { kind = 'input', name = 'q', type = 'T', extent = { 'n' }, rtol = 1 } }",
      "only what is written has a check" },
    { "check", "{ sum = true }", "check: sum: must be a text or a number" },
    { "variants", "{}", "variants: has 0 entries" },
    { "variants", "{ v = {} }", "must be a list { ... } without names or holes, and has the name 'v'" },
    { "variants", "{ { name = 'v', template = 't.cu', params = { { 'P' } }, launch = { kernel = 'k' } } }",
      "variant v: params[1]: has 1 entries" },
    { "variants", "{ { name = 'v', template = 't.cu', params = { { 'P', {} } }, launch = { kernel = 'k' } } }",
      "variant v: params[1]: P: value 1: must be a number, a boolean or a word" },
    { "variants", "{ { name = 'v', template = 't.cu', params = { { 'P', 1, 'a' } }, launch = { kernel = 'k' } } }",
      "another type" },
    { "variants", "{ { name = 'v', template = 't.cu', params = { { 'P', 1, 1 } }, launch = { kernel = 'k' } } }", "twice" },
    { "variants", "{ { name = 'v', template = 't.cu', params = { { 'P', 'a-b' } }, launch = { kernel = 'k' } } }",
      "must be a word" },
    { "variants", "{ { name = 'v', template = 't.cu', params = { { 'P', 0/0 } }, launch = { kernel = 'k' } } }", "finite" },
    { "variants", "{ { name = 'v', template = 't.cu', params = { { 'T_bytes', 1 } }, launch = { kernel = 'k' } } }",
      "'T_bytes' is both" },
    { "variants", "{ { name = 'v', template = 't.cu', params = { { 'T_is_i8', 1 } }, launch = { kernel = 'k' } } }",
      "'T_is_i8' is both" },
    { "variants", "{ { name = 'v', template = 't.cu', params = { { 'float', 1 } }, launch = { kernel = 'k' } } }",
      "is a word that" },
    { "variants", "{ { name = 'v', template = 't.cu', params = { { 'end', 1 } }, launch = { kernel = 'k' } } }", "is a word that" },
    { "variants", "{ { name = 'v', template = 't.cu', params = { { 'device', 1 } }, launch = { kernel = 'k' } } }", "device" },
    { "variants", "{ { name = 'v', template = 't.cu', params = { { 'k', 1 } }, launch = { kernel = 'k' } } }", "'k' is both" },
    { "variants", "{ { name = 'v', template = 't.cu', where = { 'n' }, launch = { kernel = 'k' } } }",
      "variant v, constraint `n`: " },
    { "variants", "{ { name = 'v', template = 't.cu', where = { true }, launch = { kernel = 'k' } } }",
      "where: entry 1: must be a text" },
    { "variants", "{ { name = 'v', template = 't.cu', launch = {} } }", "launch: has 0 entries" },
    { "variants", "{ { name = 'v', template = 't.cu', launch = { kernel = 'length' } } }",
      "variant v: kernel 'length': OpenCL C has a function of this name" },
    { "reference", "{ template = 't.cu', launch = { kernel = 'cross' } }", "reference: kernel 'cross': OpenCL C has" },
    { "variants", "{ { name = 'v', template = 'shared.cu', launch = { kernel = 'k' } } }",
      "variant v: kernel k declares DYNAMIC_SHARED_PARAM" },
    { "reference", "{ template = 'shared.cu', launch = { kernel = 'k' } }", "reference: kernel k declares DYNAMIC_SHARED_PARAM" },
    { "variants", "{ { name = 'v', template = 't.cu', launch = { { kernel = 'k', grid = { 1, 1, 1, 1 } } } } }",
      "grid: has 4 entries" },
    { "variants", "{ { name = 'v', template = 't.cu', launch = { kernel = 'k', args = { 'x' } } } }", "no argument 'x'" },
    { "variants", "{ { name = 'v', template = 't.cu', launch = { kernel = 'k', grid = 'n - n' } } }",
      "for f32 and n=1 on cuda: variant v, grid[1]: " },
    { "variants", "{ { name = 'v', template = 't.cu', clear = { 'n' }, launch = { kernel = 'k' } } }", "clear: entry 1, 'n': must be an output" },
    { "variants", "{ { name = 'v', template = 't.cu', needs = { aligned('n', 16) }, launch = { kernel = 'k' } } }",
      "'n' is no buffer" },
    { "variants", "{ { name = 'v', template = 't.cu', requires = { backend = 'metal' }, launch = { kernel = 'k' } } }",
      "neither cuda nor opencl" },
    { "variants", "{ { name = 'v', template = 't.cu', requires = { backend = 'null' }, launch = { kernel = 'k' } } }",
      "neither cuda nor opencl" },
    { "variants", "{ { name = 'v', template = 't.cu', requires = { backend = 'opencl', cc = 90 }, launch = { kernel = 'k' } } }",
      "opencl has no compute capability" },
    { "variants", "{ { name = 'v', template = 't.cu', requires = { cc = '9' }, launch = { kernel = 'k' } } }",
      "must be an integer" },
    { "variants", "{ { name = 'v', template = 't.cu', workspaces = { workspace('w', 'Q', 1) }, launch = { kernel = 'k' } } }",
      "workspaces[1]: type: 'Q'" },
    { "variants", "{ { name = 'v', template = 't.cu', clear = { 'n' }, needs = { noalias('n') }, launch = { kernel = 'k' } } }",
      "'n' is no buffer" },
    { "defaults", "{}", "defaults: has 0 entries" },
    { "defaults", "{ { variant = 'w' } }", "default 1: there is no variant 'w'" },
    { "defaults", "{ { variant = 'v', P = 3 } }", "default 1: P: this is none of the parameter's values" },
    { "defaults", "{ { variant = 'v', Q = 3 } }", "unknown field 'Q'; known here: variant when P G" },
    { "defaults", "{ { variant = 'v', when = 'n > 1' } }", "defaults: the last must always hold, so it has no when" },
    { "defaults", "{ { variant = 'v', when = 'q > 1' }, { variant = 'v' } }", "defaults: default 1: when: " },
    { "defaults", "{ { variant = 'v', when = 'q > 1' }, { variant = 'v' } }", "unknown name 'q'" },
    { "defaults", "{ { variant = 'v', when = 'n % 0 == 1' }, { variant = 'v' } }", "defaults: default 1: when: for f32 and n=1 on cuda: " },
    { "defaults", "{ { variant = 'v', when = { 'P == 1', 'n' } }, { variant = 'v' } }", "defaults: default 1: when: for f32 and n=1 on cuda: " },
    { "defaults", "{ { variant = 'v', when = {} }, { variant = 'v' } }", "defaults: default 1: when: has 0 entries" },
    { "variants", "{ { name = 'v', template = 't.cu', where = { 'n % 4 == 0' }, launch = { kernel = 'k' } } }",
      "must always hold" },
    { "variants", "{ { name = 'v', template = 't.cu', launch = { kernel = 'k', grid = { 1, 'n' } } } }", "must always hold" },
    { "variants", "{ { name = 'v', template = 't.cu', needs = { noalias 'out' }, launch = { kernel = 'k' } } }",
      "must always hold" },
};

static void test_slips(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        struct op *op;
        struct err err;
        int rc = load_with(slips[i].field, slips[i].text, &op, &err);
        if (rc >= 0 || !strstr(err.msg, slips[i].says) || !strstr(err.msg, "/t.lua:"))
            fail_msg("%s = %s: should say '%s', says '%s'", slips[i].field, slips[i].text, slips[i].says, rc ? err.msg : "nothing");
        assert_null(op);
    }
}

static int take_piece(void *arg, int64_t at, const void *p, size_t n, struct err *err)
{
    struct buf *all = arg;
    assert_int_equal(at, all->len);
    buf_put(all, p, n);
    return buf_check(all, err);
}

/* A file's contents are read again where they are needed; if they are others then, that is seen. */
static void test_data_files(void **state)
{
    (void)state;
    struct op *op;
    struct err err;
    struct buf all = { 0 };
    write_file("x.bin", "abcdefgh");
    if (load_with("args", "{ output('out', 'T', { 'n' }), input('x', 'i8', { 'n' }, { file = 'x.bin' }), value 'n' }", &op, &err))
        fail_msg("%s", err.msg);
    const struct data_file *f = &op->args[1].data.file;
    assert_true(f->digest && !f->element && f->at == 0 && f->bytes == 8);
    assert_int_equal(data_file_read(op, f, take_piece, &all, &err), 0);
    assert_string_equal(buf_text(&all), "abcdefgh");
    int rc = ERR_NOMEM;
    for (long nth = 0; rc == ERR_NOMEM; nth++) {
        struct data_file again = { .name = "x.bin" };
        mem_fail_at(nth);
        rc = data_file_look(sample_dir, op->arena, &again, NULL) ?: data_files_digest(op, false, NULL) ?: data_file_read(op, f, NULL, NULL, NULL);
        mem_fail_at(-1);
        assert_true(rc == ERR_NOMEM ? nth < 20 : !rc && nth > 3);
    }
    static const char *const others[] = { "abcdefgi", "abcdefg", "abcdefghi" };
    for (int i = 0; i < 3; i++) {
        write_file("x.bin", others[i]);
        buf_clear(&all);
        err = (struct err){ 0 };
        assert_int_equal(data_file_read(op, f, take_piece, &all, &err), ERR_INVALID);
        assert_string_equal(err.msg, "x.bin: it has changed since the script was read: run again");
    }
    char path[256];
    snprintf(path, sizeof path, "%s", in_dir("x.bin"));
    assert_int_equal(unlink(path) || mkfifo(path, 0600), 0);
    assert_int_equal(data_file_read(op, f, NULL, NULL, &err), ERR_INVALID);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(data_file_read(op, f, NULL, NULL, &err), ERR_NOTFOUND);
    buf_free(&all);
    op_free(op);
}

/* ---- no memory ---- */

struct reading {
    struct buf library, text;
    struct op *op;
};

static void read_script(lua_State *L, void *arg)
{
    struct reading *r = arg;
    sandbox_text(L, "op.lua", r->library.data, r->library.len, 0);
    sandbox_text(L, NULL, r->text.data, r->text.len, 1);
    op_read(L, "s.lua", sample_dir, SOURCE_DIR "/templates", r->op);
}

/* As the child reads it, but here: each allocation fails once, and nothing is lost of the memory that there was. */
static void read_without_memory(struct reading *r)
{
    static const struct sandbox_rules rules = { .what = "script", .memory = (size_t)32 << 20, .instructions = 1000000 };
    struct err err;
    int rc = ERR_NOMEM;
    for (long nth = 0; rc == ERR_NOMEM; nth += 1 + nth / 100) {
        err = (struct err){ 0 };
        r->op = op_new();
        mem_fail_at(nth);
        rc = sandbox_run(&rules, "s.lua", read_script, r, &err);
        mem_fail_at(-1);
        op_free(r->op);
        assert_true(rc == 0 || *err.msg);
    }
    if (rc)
        fail_msg("%.200s: %s", buf_text(&r->text), err.msg);
}

static void test_scripts_without_memory(void **state)
{
    (void)state;
    static const char *const scripts[] = { "everything", "maps", "metrics", "native", "axpby" };
    struct reading r = { .op = NULL };
    assert_int_equal(file_read(SOURCE_DIR "/tuner/lib/op.lua", 1 << 20, &r.library, NULL), 0);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        char path[256];
        snprintf(path, sizeof path, SOURCE_DIR "/tests/fuzz/corpus/script/%s", scripts[i]);
        buf_clear(&r.text);
        assert_int_equal(file_read(path, 1 << 20, &r.text, NULL), 0);
        read_without_memory(&r);
    }
    write_file("four.bin", "abcd");
    buf_clear(&r.text);
    buf_str(&r.text,
            "return op { name = 'f', problem = { size 'n' }, types = { T = { 'i8' } }, shapes = { { n = 4 } }, check = 'exact', "
            "args = { output('out', 'T', { 'n' }, { file = 'four.bin' }), input('x', 'T', { 'n' }, { file = 'four.bin' }) }, "
            "variants = { { name = 'v', template = 'transpose_ref.cu', launch = { kernel = 'k' } } }, "
            "defaults = { { variant = 'v' } } }");
    read_without_memory(&r);
    buf_free(&r.library);
    buf_free(&r.text);
}

static void test_smallest(void **state)
{
    (void)state;
    struct op *op;
    struct err err;
    if (load_with("", "", &op, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(op->name, "t");
    assert_int_equal(op->nrows, 2);
    assert_string_equal(op->rows[1]->name, "i8");
    assert_int_equal(op->nargs, 2);
    assert_string_equal(op->args[1].value, "n");
    assert_int_equal(op->variants[0].nparams, 2);
    assert_int_equal(op->variants[0].params[0].values[1].i, 2);
    assert_int_equal(op->variants[0].launches[0].nargs, 2);
    assert_string_equal(op->variants[0].template_text, "// nothing\n");
    assert_string_equal(op->variants[0].params[1].values[op->defaults[0].config.at[1]].s, "a");
    op_free(op);
}

/* Each member of the structures that the ops which ship do not use. */
static void test_everything(void **state)
{
    (void)state;
    static const char script[] =
        "return op { name = 'all', problem = { size 'n', stride 'ld', batch 'b', flag 'up' },\n"
        "types = { names = { 'T', 'ACC' }, { 'f16', 'f32' }, { 'f32', 'f64' } },\n"
        "args = { inout('a', 'T', { 'b', 'n', 'ld' }, { fill = 'bits' }), output('s', 'ACC', { 1 }), value('up', '1 - up', 'i32'), "
        "output('p', 'T', { 1 }, { partial = true }), scalar('z', 'ACC', '-n / 2', { other = 'n' }) },\n"
        "work = { bytes = 1, flops = 'n' }, shapes = { { n = 2, ld = 3, b = 1, up = 1, when = 'device.cc >= 80' } },\n"
        "reference = { template = 't.cu', launch = { kernel = 'r', args = { 's', 'a' } } }, check = { sum = 'n' },\n"
        "variants = { { name = 'x', template = 't.cu', params = { param('P', 4, powers(1, 8)), param('F', true, false),\n"
        "param('S', 0.5, 2.5) }, workspaces = { workspace('w', 'ACC', 'P', { clear = true }) }, clear = { 's' },\n"
        "needs = { aligned('a', 'P * 4'), noalias('s') },\n"
        "requires = { backend = 'cuda', cc = 90, arch_specific = true, grid_order = true, grid_progress = true },\n"
        "launch = { { kernel = 'k', grid = { 'n', 2, 3 }, block = 32, shared = '4 * P' }, { kernel = 'l', args = { 'w' } } } },\n"
        "{ name = 'y', template = 't.cu', launch = { kernel = 'k' } } },\n"
        "defaults = { { variant = 'x', P = 1, F = false, when = { 'n > P', 'F' } }, { variant = 'y' } } }";
    struct op *op;
    struct err err;
    if (load(script, &op, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(op->axes[3].kind, AXIS_FLAG);
    assert_string_equal(op->rows[3]->name, "f64");
    assert_int_equal(op->args[0].kind, ARG_INOUT);
    assert_int_equal(op->args[0].rank, 3);
    assert_int_equal(op->args[0].fill, FILL_BITS);
    assert_string_equal(op->args[2].type, "i32");
    assert_true(op->args[3].partial && !op->args[1].partial);
    assert_int_equal(op->args[4].kind, ARG_SCALAR);
    assert_string_equal(op->args[4].type, "ACC");
    assert_string_equal(op->args[4].value, "-n / 2");
    assert_int_equal(op->shapes[0].problem.size[3], 1);
    assert_string_equal(op->shapes[0].when, "device.cc >= 80");
    assert_int_equal(op->reference.launches->args[0], 1);
    assert_int_equal(op->check.kind, CHECK_SUM);
    const struct variant *v = &op->variants[0];
    assert_int_equal(v->params[0].n, 4);
    assert_int_equal(v->params[0].values[3].i, 8);
    assert_int_equal(v->params[1].values[0].type, VAL_BOOL);
    assert_true(v->params[2].values[1].f == 2.5);
    assert_true(v->workspaces[0].clear);
    assert_int_equal(v->clear[0], 1);
    assert_int_equal(v->needs[0].kind, NEED_ALIGN);
    assert_int_equal(v->needs[1].arg, 1);
    assert_int_equal(v->requires.cc, 90);
    assert_true(v->requires.arch_specific && v->requires.grid_order && v->requires.grid_progress);
    assert_string_equal(v->launches[0].grid[2], "3");
    assert_int_equal(v->launches[0].nargs, 6);
    assert_int_equal(v->launches[1].args[0], 5);
    assert_false(v->params[1].values[op->defaults[0].config.at[1]].b);
    assert_int_equal(op->defaults[0].nwhen, 2);
    assert_string_equal(op->defaults[0].when[0], "n > P");
    assert_string_equal(op->defaults[0].when[1], "F");
    assert_int_equal(op->defaults[1].nwhen, 0);
    op_free(op);
}

static void test_checks(void **state)
{
    (void)state;
    struct op *op;
    struct err err;
    if (load_with("check", "{ close = { rtol = 1e-5, atol = \"T == 'f32' and 1e-3 or 0\" } }", &op, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(op->check.kind, CHECK_CLOSE);
    assert_string_equal(op->check.rtol, "1e-05");
    assert_string_equal(op->check.atol, "T == 'f32' and 1e-3 or 0");
    assert_false(op->args[0].own_check);
    op_free(op);
    if (load_with("check", "{ close = {} }", &op, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(op->check.kind, CHECK_CLOSE);
    assert_true(!op->check.rtol && !op->check.atol && !op->check.length);
    op_free(op);
    if (load_with("args",
                  "{ output('out', 'T', { 'n' }, { rtol = 1e-3 }), inout('a', 'T', { 'n' }, { check = 'exact' }), "
                  "output('b', 'T', { 1 }, { check = { sum = 'n' } }), output('c', 'T', { 1 }, { check = 'close' }), value 'n' }",
                  &op, &err))
        fail_msg("%s", err.msg);
    const struct arg *a = op->args;
    assert_true(a[0].own_check && a[1].own_check && a[2].own_check && a[3].own_check && !a[4].own_check);
    assert_true(a[0].check.kind == CHECK_CLOSE && a[1].check.kind == CHECK_EXACT && a[2].check.kind == CHECK_SUM &&
                a[3].check.kind == CHECK_CLOSE);
    assert_string_equal(a[0].check.rtol, "0.001");
    assert_string_equal(a[2].check.length, "n");
    op_free(op);
}

static void test_ops_that_ship(void **state)
{
    (void)state;
    char **names;
    int n;
    struct err err = { 0 };
    assert_int_equal(script_names("ops", &names, &n, &err), 0);
    assert_true(n >= 3);
    for (int i = 0; i < n; i++) {
        struct op *op;
        if (op_load(names[i], &op, &err))
            fail_msg("%s", err.msg);
        assert_string_equal(op->name, names[i]);
        op_free(op);
        if (i)
            assert_true(strcmp(names[i - 1], names[i]) < 0);
    }
    mem_free(names);
}

/* Scripts that end in an error of their own: with the line, where Lua knows it. */
static const struct {
    const char *script, *says;
    bool heavy; /* takes seconds */
} wrong_scripts[] = {
    { "", "must end with: return op", false },
    { "return 5", "must end with: return op", false },
    { "\n\nreturn op {", "t.lua:3:", false },
    { "\nerror('so')", "t.lua:2: so", false },
    { "error({})", "without a text", false },
    { "\nrange(1, 10, 0)", "t.lua:2: range(first, last, step) wants a step that is not 0", false },
    { "\npowers(0, 8)", "t.lua:2: powers(first, last) wants a first of at least 1", false },
    { "return op(5)", "op { ... } wants a table", false },
    { "return io.open('/etc/passwd')", "'io'", false },
    { "return os.exit(0)", "'os'", false },
    { "return debug.getregistry()", "'debug'", false },
    { "return require('os')", "'require'", false },
    { "return dofile('/etc/passwd')", "'dofile'", false },
    { "return load('return 1')", "'load'", false },
    { "return setmetatable({}, {})", "'setmetatable'", false },
    { "return string.dump(op)", "'dump'", false },
    { "print('x')", "'print'", false },
    { "\x1bLuaT\n", "compiled Lua", false },
    { "local t = {} for i = 1, 1e9 do t[i] = i end", "memory", true },
    { "local s = 'x' while true do s = s .. s end", "memory", true },
    { "return ('x'):rep(1 << 29)", "memory", true },
    { "local function f() return f() + 1 end f()", "stack overflow", true },
    { "while true do end", "t.lua:1: ran for more than", true },
};

static void test_wrong_scripts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_scripts / sizeof *wrong_scripts; i++) {
        struct op *op;
        struct err err;
        int rc = load(wrong_scripts[i].script, &op, &err);
        if (rc == ERR_TIMEOUT && wrong_scripts[i].heavy) /* a machine that is too busy to get to the limit in time */
            continue;
        if (rc >= 0 || !strstr(err.msg, wrong_scripts[i].says) || !strstr(err.msg, "/t.lua:"))
            fail_msg("%s: should say '%s', says '%s'", wrong_scripts[i].script, wrong_scripts[i].says, rc ? err.msg : "nothing");
    }
}

/* What no hook stops: the child is killed, and op_load comes back. */
static const char *const endless[] = {
    "while true do pcall(function() while true do end end) end",
    "string.find(('a'):rep(1e6), ('a*'):rep(40) .. 'b')",
    "return string.rep('', 1 << 62)",
    "table.move({}, 1, 1e15, 2)",
};

static void test_endless(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        struct op *op;
        struct err err;
        int rc = load(endless[i], &op, &err);
        if (rc >= 0 || !strstr(err.msg, "t.lua: "))
            fail_msg("%s: %s", endless[i], rc ? err.msg : "no error");
        if (rc == ERR_TIMEOUT)
            assert_non_null(strstr(err.msg, "did not finish within"));
    }
}

static void test_not_found(void **state)
{
    (void)state;
    struct op *op;
    struct err err = { 0 };
    assert_int_equal(op_load("nosuchop", &op, &err), ERR_NOTFOUND);
    assert_non_null(strstr(err.msg, "nosuchop"));
    assert_int_equal(op_load("no such", &op, &err), ERR_NOTFOUND);
    assert_int_equal(op_load("/nowhere/x.lua", &op, &err), ERR_NOTFOUND);
    assert_int_equal(op_load("", &op, &err), ERR_NOTFOUND);
    assert_int_equal(setenv("CUTUNE_HOME", sample_dir, 1), 0);
    const char *home;
    assert_int_equal(home_find(&home, &err), ERR_NOTFOUND);
    assert_non_null(strstr(err.msg, sample_dir));
    assert_int_equal(setenv("CUTUNE_HOME", SOURCE_DIR, 1), 0);
    assert_int_equal(home_find(&home, &err), 0);
    assert_string_equal(home, SOURCE_DIR);
}

/* What included files are found, and where. The template inc.cu is the variant's. */
static int load_including(const char *template, struct op **op, struct err *err)
{
    write_file("inc.cu", template);
    return load_with("variants",
                     "{ { name = 'v', template = 'inc.cu', params = { { 'P', 1, 2 }, { 'G', 'a', 'b' } },"
                     " launch = { kernel = 'k' } } }",
                     op, err);
}

static const char *carried(const struct op *op, const char *name)
{
    for (int i = 0; i < op->nincludes; i++)
        if (strcmp(op->includes[i].name, name) == 0)
            return op->includes[i].text;
    return NULL;
}

static void test_includes(void **state)
{
    (void)state;
    struct op *op;
    struct err err;
    make_folder("sub");
    make_folder("sub/deep");
    write_file("top.h", "// top\n");
    write_file("sub/a.h", "#include \"b.h\"\n#include \"../top.h\"\n#include \"deep/c.h\"\n#include \"a.h\"\n");
    write_file("sub/b.h", "\xef\xbb\xbf// b\n#if 0\n#include \"nowhere.h\"\n#endif\n");
    write_file("sub/deep/c.h", "");
    if (load_including("#include \"sub/a.h\"\n%:include \"./sub//deep/../b.h\"\n #  inc\\\nlude /* \n */ \"top.h\" // x\n"
                       "#include <stdint.h>\n#include NAME\n/* \n#include \"no.h\"\n*/ // #include \"no.h\"\n"
                       "const char *s = \"\\\n#include \\\"no.h\\\"\"; int i = 1'000; // '\n",
                       &op, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(op->nincludes, 4);
    assert_string_equal(carried(op, "top.h"), "// top\n");
    assert_non_null(strstr(carried(op, "sub/b.h"), "// b"));
    assert_int_equal(*carried(op, "sub/b.h"), '/');
    assert_string_equal(carried(op, "sub/deep/c.h"), "");
    assert_non_null(carried(op, "sub/a.h"));
    op_free(op);
    if (load_including("#ifdef X\n#include \"no.h\"\n#endif\n", &op, &err)) /* nobody may need it */
        fail_msg("%s", err.msg);
    assert_int_equal(op->nincludes, 0);
    op_free(op);
    if (load_including("//@ if P == 3 then\n#include \"no.h\"\n//@ end\n#include \"$(x).h\"\n", &op, &err))
        fail_msg("%s", err.msg);
    op_free(op);
    if (load_including("#include \"prelude_cuda.h\"\n", &op, &err)) /* of the templates' folder */
        fail_msg("%s", err.msg);
    assert_true(op->nincludes == 1 && op->includes[0].shared);
    op_free(op);
}

/* A stranger's script reads no file but those that came with it, and nothing it includes makes it wait. */
static void test_includes_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *template, *says;
    } bad[] = {
        { "\n#include \"no.h\"\n", "variant v: inc.cu:2: there is no 'no.h' in /tmp/cutune-test-" },
        { "#include \"sub/lost.h\"\n", "sub/lost.h:3: there is no 'no.h' in" },
        { "#include \"/etc/passwd\"\n", "inc.cu:1: #include \"/etc/passwd\": not a path below" },
        { "#if 0\n#include \"/etc/passwd\"\n#endif\n", "not a path below" },
        { "#include \"../../etc/passwd\"\n", "not a path below" },
        { "#include \"sub/../../x.h\"\n", "not a path below" },
        { "?\?=include \"/etc/passwd\"\n", "not a path below" },
        { "int a;\r#include \"/etc/passwd\"\r", "not a path below" },
        { "#inc\\ \r\nlude \"/etc/passwd\"\n", "not a path below" },
        { "#include \".ssh/id_rsa\"\n", "not a path below" },
        { "#include \"sub\"\n", "not a regular file" },
        { "#include \"sub/\"\n", "not a path below" },
        { "#include \"\"\n", "not a path below" },
        { "#include \"fifo.h\"\n", "not a regular file" },
        { "#include \"secret.h\"\n", "a link out of the folder" },
        { "#include \"way/passwd\"\n", "a link out of the folder" },
        { "#include \"loop.h\"\n", "Too many levels" },
        { "#include \"huge.cu\"\n", "larger than" },
        { "#include \"many/0.h\"\n", "more than 256 files" },
        { "#include \"sub\\\\a.h\"\n", "not a path below" },
    };
    char name[64], text[64];
    make_folder("sub");
    make_folder("many");
    write_file("sub/lost.h", "\n\n#include \"no.h\"\n");
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "many/%d.h", i);
        snprintf(text, sizeof text, "#include \"%d.h\"\n", i + 1);
        write_file(name, i < 299 ? text : "");
    }
    static const char *const links[][2] = { { "/etc/passwd", "secret.h" }, { "/etc", "way" }, { "loop.h", "loop.h" } };
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(symlink(links[i][0], in_dir(links[i][1])), 0);
    assert_int_equal(mkfifo(in_dir("fifo.h"), 0600), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct op *op;
        struct err err;
        int rc = load_including(bad[i].template, &op, &err);
        if (rc >= 0 || !strstr(err.msg, bad[i].says))
            fail_msg("%s: should say '%s', says '%s'", bad[i].template, bad[i].says, rc ? err.msg : "nothing");
        assert_null(strchr(err.msg, '\n'));
    }
}

static int setup(void **state)
{
    if (make_dir(state) || setenv("CUTUNE_HOME", SOURCE_DIR, 1))
        return -1;
    write_file("t.cu", "// nothing\n");
    write_file("empty.cu", "");
    write_file("shared.cu", "/* k() is small */\nKERNEL void k (GLOBAL T *out, int64 n DYNAMIC_SHARED_PARAM)\n{\n}\n");
    FILE *f = fopen(in_dir("huge.cu"), "w");
    if (!f)
        return -1;
    for (int i = 0; i <= 1 << 16; i++)
        fputs("// 16 bytes....\n", f);
    return fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_smallest),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_slips),
        cmocka_unit_test(test_data_files),
        cmocka_unit_test(test_scripts_without_memory),
        cmocka_unit_test(test_ops_that_ship),
        cmocka_unit_test(test_wrong_scripts),
        cmocka_unit_test(test_endless),
        cmocka_unit_test(test_not_found),
        cmocka_unit_test(test_includes),
        cmocka_unit_test(test_includes_that_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, remove_dir);
}
