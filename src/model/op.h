/* The op: what an op script says, as plain structs. src/op builds it from Lua, op_get from its serial form; from then on it does not
 * change, so any thread may read it. All of it lies in the op's arena. Expressions are texts here; model/plan.h compiles them. */
#ifndef MODEL_OP_H
#define MODEL_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/util.h"
#include "expr/val.h"
#include "model/peer.h"

enum {
    MAX_AXES = 16,      /* of a problem */
    MAX_TYPES = 8,      /* type names of an op */
    MAX_ARGS = 32,      /* arguments of an op, and again workspaces of a variant */
    MAX_PARAMS = 64,    /* of a variant */
    MAX_VALUES = 65535, /* of a parameter */
    MAX_RANK = 8,
    MAX_LAUNCHES = 8,
    MAX_PRELUDES = 8,     /* one for each language of kernels */
    MAX_INCLUDES = 256,   /* files that the templates of an op include */
    MAX_PATH_NAME = 255,  /* bytes of the path of one */
    MAX_INCLUDE_DIRS = 8, /* folders of a script, and again of the user, for files that templates include */
    MAX_FILES = 16,       /* of one source, */
    MAX_OPTIONS = 32,     /* and of its compiler */
    MAX_ENTRY = 2047,     /* bytes of a kernel's name, as C++ has it */
    MAX_NAME = 63,        /* bytes of any name: a letter or _, then letters, digits, _ */
    MAX_LINE = 65535,     /* bytes of an expression or a configuration's text in a file */
    MAX_VARIANTS = 256,
    MAX_METRICS = 16,
    MAX_OUTSIDE = 400, /* bytes of the name of a reference outside */
    MAX_ROWS = 256,    /* of types */
    MAX_SHAPES = 1024,
    MAX_WHERE = 256, /* constraints of an op, and again of a variant, */
    MAX_WHEN = 8,    /* and what a default asks besides */
    MAX_NEEDS = 64,
    MAX_OP_DEFAULTS = 1280,
};

enum axis_kind {
    AXIS_SIZE,   /* elements, at least 1 */
    AXIS_STRIDE, /* elements from one row to the next, at least 1 */
    AXIS_BATCH,  /* how many problems of the same sizes, at least 1 */
    AXIS_FLAG,   /* 0 or 1: a look-up takes no winner of a problem with another flag; of the other kinds the nearest will do */
};

struct axis {
    const char *name;
    enum axis_kind kind;
    const char *max; /* the most that the op takes: an expression over axes and types; null: it takes any */
    const char *preset; /* what it is where nobody says: an expression over the axes before it; null: it must be said */
};

enum arg_kind { ARG_INPUT, ARG_OUTPUT, ARG_INOUT, ARG_VALUE, ARG_SCALAR };

/* What verification fills an input with. FILL_AUTO: bits for an exact check, numbers for others. */
enum fill { FILL_AUTO, FILL_BITS, FILL_NUMBERS };

enum check_kind {
    CHECK_EXACT,
    CHECK_SUM, /* sums of `length` products: equal for small whole numbers, which do not round; for numbers uniform in [-1,1) within
                    4 * eps(result type) * length, which is more than the error of a sequential sum of random signs */
    CHECK_CLOSE, /* within atol + rtol * |the reference's|; NaN and infinity where the reference has them; integers equal */
};

/* When a result is right. Expressions over axes and types; null: not said (measure/tolerance.h has the defaults). */
struct check {
    enum check_kind kind;
    const char *length;      /* CHECK_SUM */
    const char *rtol, *atol; /* CHECK_CLOSE */
};

enum { DATA_ELEMENT = 8 };

/* A file with the contents of an argument. What the script says of it is its name; the rest was found in it. */
struct data_file {
    const char *name;    /* below the script's folder; null: there is none */
    const char *digest;  /* of the whole file, as hash_hex writes it; null: not known (model/kernel.h) */
    const char *element; /* NumPy's letter and bytes, "f4"; null: it is raw */
    int rank;            /* with an element: its shape */
    int64_t shape[MAX_RANK];
    int64_t at, bytes; /* where the elements begin, and the bytes from there to the end */
};

/* What an input or inout is filled with, if the script says more than `fill`; of an output, a file with what is expected. */
struct arg_data {
    const char *range[2]; /* numbers from the first to below the second, integers up to it: expressions over axes and types */
    const char *below;    /* integers from 0 to below this one, likewise */
    const char *peaks[3]; /* bounds of the few elements that dominate their line, and the extent along which that lies: plan_arg_peaks */
    bool sorted;          /* ascending */
    bool init;            /* an input: op->init writes it */
    struct data_file file;
};

struct arg {
    const char *name;
    enum arg_kind kind;
    const char *type;             /* an entry of op->types, or a dtype's name; of an ARG_VALUE a dtype's name, or null for i64 */
    int rank;                     /* buffers */
    const char *extent[MAX_RANK]; /* elements: expressions over axes and types, row-major, outermost first */
    const char *value; /* ARG_VALUE: an expression over axes and types. ARG_SCALAR, which callers give by value: what it is
                                     tuned with, likewise; null where that is not known (model/kernel.h) */
    const char *other; /* ARG_SCALAR: what it is checked with besides, likewise; null: see plan_arg_other */
    enum fill fill;
    struct arg_data data;
    const char
        *constant;  /* ARG_INPUT: a __constant__ array of the kernels' that gets its contents, if no launch passes it; null: none */
    bool partial;   /* ARG_OUTPUT: a candidate must leave alone what the reference leaves alone; else all of it is written */
    bool own_check; /* what is written: by its own check, not by the op's */
    struct check check;
};

/* A buffer that a variant asks for; its kernels get it after the op's arguments. */
struct workspace {
    const char *name;
    const char *type;
    const char *count; /* elements: an expression over parameters, axes, types, device.* */
    bool clear;        /* it is zeroed before each run, and that is timed, too */
};

struct param {
    const char *name;
    int n;
    struct val *values; /* integers, floats, booleans or strings, all of one type; the first is the default */
};

enum {
    MAX_STEPS = 1 << 14,       /* what launches come to with their repetitions, */
    MAX_STEP_PARAMS = 1 << 18, /* and parameters of those, if they change */
    MAX_REPEATED = 1024,       /* bytes of an expression that they repeat */
    MAX_LAUNCH_VALUES = 16,
    MAX_VIEWS = 8,     /* of a launch, */
    MAX_VIEW_RANK = 5, /* and of how many extents; */
    TEXTURE_RANK = 3,  /* of a texture, */
    /* for which so far every device wants its buffer aligned to so many bytes, and its rows */
    TEXTURE_ALIGN = 512,
    TEXTURE_PITCH = 32,
};

/* A value that a launch passes, anew in each repetition. */
struct launch_value {
    const char *name;
    const char *type;  /* a dtype's name */
    const char *value; /* an expression over parameters, axes, types, device.*, ROUND and STEP */
};

/* What is read outside of the extents: the nearest element, 0, the elements again, or the elements turned round. */
enum texture_address { ADDRESS_CLAMP, ADDRESS_BORDER, ADDRESS_WRAP, ADDRESS_MIRROR };

/* How a texture is read. */
struct texture_mode {
    bool array;      /* from a copy, made before the first launch; else from the buffer as it lies */
    bool layered;    /* the outermost of three extents counts layers */
    bool linear;     /* between elements; else the nearest one */
    bool normalized; /* by coordinates from 0 to 1 */
    bool as_float;   /* integers as numbers up to 1 */
    int naddress;    /* 0: clamp; 1: all are the same; else one for each extent, outermost first */
    enum texture_address address[TEXTURE_RANK];
};

/* What a launch passes in a buffer's place: a description of the buffer, or of a part of it, for copies of boxes of it (CUDA's
 * CUtensorMap), or for reads through the texture units (cudaTextureObject_t). Lists are outermost first; their entries expressions over
 * parameters, axes, types, device.*. */
struct view {
    int arg; /* as in args */
    int nextents, nstrides;
    const char *extent[MAX_VIEW_RANK]; /* elements; none: the argument's */
    const char *stride[MAX_VIEW_RANK]; /* elements from one index to the next, of all but the innermost; none: they are packed */
    /* A tensor map has these, */
    int rank, nsteps;
    const char *box[MAX_VIEW_RANK];        /* elements, `rank` of them */
    const char *step[MAX_VIEW_RANK];       /* every how many-th element; none: 1 */
    const char *swizzle, *interleave, *l2; /* bytes; null: 0 */
    bool nan;                              /* what lies outside is read as NaN, not as 0 */
    /* and a texture these. */
    bool texture;
    const char *channels; /* elements that are read together; null: 1 */
    struct texture_mode mode;
};

/* A launch, or many: for ROUND = 0 .. rounds - 1, for STEP = 0 .. steps - 1. Launches that are `together` share their rounds: all of them
 * run in the first, then all in the second. Of the grid and of values the expressions may use ROUND and STEP, `steps` may use ROUND. */
struct launch {
    const char *kernel; /* the entry's name, or C++ for it: scale<T, 4>. Of a stored kernel as the code has it: _Z5scale... */
    const char *grid[3], *block[3]; /* blocks, threads: expressions; null: 1 */
    const char *shared;             /* dynamic shared memory, bytes; null: none */
    int nargs; /* indices into the op's args, then (+ op->nargs) the variant's workspaces, then the launch's own values, then its views */
    int *args;
    const char *when;           /* it is launched only if this is true; null: always */
    const char *rounds, *steps; /* null: 1 */
    bool together;              /* it is in the rounds of the launch before it, and has no `rounds` of its own */
    int nswaps, nround_swaps;   /* pairs of buffers (indices as in args), two entries each: exchanged before each repetition, */
    int *swaps, *round_swaps;   /* before each round; so that the last one has them as they are written */
    int nvalues;
    struct launch_value *values;
    int nviews;
    struct view *views;
    const char *cluster[3]; /* blocks of a cluster; null: 1 */
    bool cooperative;       /* all blocks run at once, and may wait for each other */
    bool dependent;         /* it may begin before the launch before it has ended (CUDA's programmatic dependent launch) */
};

enum need_kind {
    NEED_ALIGN,   /* the address of `arg` is a multiple of `bytes` */
    NEED_NOALIAS, /* `arg` overlaps no other buffer argument */
};

/* What must hold of a buffer's pointer at launch, apart from being aligned to its elements. */
struct need {
    enum need_kind kind;
    int arg;
    const char *bytes; /* NEED_ALIGN: an expression over parameters and types */
};

/* What a variant requires of the device. Members that are 0 require nothing. */
struct requires {
    const char *backend; /* by name: "cuda" */
    int cc;              /* CUDA compute capability * 10, at least */
    bool arch_specific;  /* needs sm_NNa, not sm_NN (wgmma, setmaxnreg): then cc must be equal, because no later device runs it */
    bool grid_order;     /* blocks start in the order of their index */
    bool grid_progress;  /* all blocks of the grid run at once */
};

struct template_file {
    const char *name, *text;
};

struct build_option {
    const char *backend; /* whose compiler takes it */
    const char *text;    /* with $( ) in it, as in a template */
};

/* How a template becomes code, beside its text and its parameters. All zero for most. */
struct build {
    const char *language; /* the backend in whose own language the text is; null: the dialect of the preludes */
    int nmore;            /* files of the same source, which follow the template */
    struct template_file *more;
    int noptions;
    struct build_option *options;
};

struct variant {
    const char *name;
    const char *template_name; /* "transpose_tile.cu" */
    const char *template_text;
    struct build build;
    int nparams;
    struct param *params;
    int nwhere;
    const char **where; /* constraints: expressions over parameters, axes, types, device.* that must be true */
    int nlaunches;
    struct launch *launches;
    int nworkspaces;
    struct workspace *workspaces;
    int nneeds;
    struct need *needs;
    int nclear;
    int *clear; /* outputs that must be zero when the kernels start: every launch zeroes them first, and that is timed, too */
    struct requires requires;
};

/* What a measured configuration is worth by the op's own counting. */
struct metric {
    const char *name;
    /* An expression over parameters, axes, types, device.backend, device.multiprocessors, the time (s) and energy (J) of a run. */
    const char *value;
    bool minimize; /* less is better; else more is */
};

/* A configuration: a variant and a value for each of its parameters, by index. */
struct config {
    int variant;
    uint16_t at[MAX_PARAMS]; /* indices into params[i].values; those past nparams are 0 */
};

/* What serves if nothing is tuned. */
struct op_default {
    struct config config;
    int nwhen; /* only if these are true, expressions as in a variant's `where`; none: wherever its constraints hold */
    const char *when[MAX_WHEN];
};

/* A problem: a size for each axis of an op. */
struct problem {
    int64_t size[MAX_AXES];
};

/* A problem that the script suggests. */
struct shape {
    struct problem problem;
    const char *when; /* null: always; else an expression over device.* */
};

/* A file that templates include, by its path below the folder of the script, or (shared) that of the templates. */
struct include {
    const char *name;
    const char *text;
    bool shared;
    bool outside; /* it lies in a folder of the user's (header_dirs) instead: the compiler reads it */
};

struct op {
    struct arena *arena;
    const char *name;
    const char *file; /* the script, for messages */
    int naxes;
    struct axis *axes;
    int ntypes; /* type names: T, or T ACC OUT */
    const char **types;
    int nwhere;
    const char **where; /* what must be true of a problem: expressions over axes and types */
    int nrows;          /* bindings of the types: rows[r * ntypes + t]; the first type names the row in short ("f32") */
    const struct dtype **rows;
    int nargs;
    struct arg *args;
    /* Bytes that any kernel must move and operations that it must do: expressions over axes and types; null: unknown. */
    const char *work_bytes, *work_flops;
    int nshapes;
    struct shape *shapes;
    /* What results are compared with, and the kernels that write inputs before anything is run on them: as variants without parameters.
     * No template_text: there is none. The reference has no name; without a text its template_name may be that of one outside. */
    struct variant reference, init;
    struct check check;
    int nvariants;
    struct variant *variants;
    int ndefaults;
    struct op_default *defaults;    /* in order: the first whose constraints hold is the default; those of the last always do */
    int npreludes;                  /* carried so that whoever renders needs no files */
    struct template_file *preludes; /* each makes the words of templates out of one language of kernels */
    int nincludes;                  /* likewise */
    struct include *includes;
    int ninclude_dirs; /* below the script's folder: files are looked for there, too */
    const char **include_dirs;
    /* Folders of the user's, for #include <...>: the compiler looks there. No script can name one, and nothing stores them. `headers` is a
     * hash of all that is in them; null: there are none. */
    int nheader_dirs;
    const char **header_dirs;
    const char *headers;
    int nmetrics;
    struct metric *metrics; /* by name */
    const char *objective;  /* what configurations are chosen by: a metric, or one of model/objective.h; null: time */
    int npeers;
    struct peer *peers; /* calls of libraries that do the same */
    /* A reference outside of cutune that a run took in place of the op's: as the user named it, and a digest of it; null: none. It is never
     * a script's. */
    const char *outside, *outside_digest;
    bool outside_beside;  /* the op has a reference of its own: what the other proved right is kept, but not served */
    const char *contract; /* of an op from a database: its op_contract when it was stored; null: not known */
};

struct op *op_new(void);     /* an empty op on an arena of its own; null without memory */
void op_free(struct op *op); /* null is fine */

struct op op_of_init(const struct op *op); /* the same with op->init as its only variant; lives as long */
const struct variant *op_code(const struct op *op, const struct config *c); /* its variant; null: the reference */
int op_variant(const struct op *op, const char *name); /* its index, -1 if there is none; so are the next two */
int op_type(const struct op *op, const char *name);
/* A default as what it is once it serves: an op with its variant alone, of which its `when` are more constraints. Stays where it is; the op
 * must outlive it. */
struct served {
    struct op op;
    struct variant variant;
    struct config config;
    const char *where[MAX_WHERE + MAX_WHEN];
};
void op_as_default(const struct op *op, const struct op_default *d, struct served *out);
/* Of a type as arguments have it: "T", or "T_acc", the one to compute in. -1: it is none of the op's. */
int op_type_of(const struct op *op, const char *type, bool *computing);
int param_value(const struct param *p, struct val v);
const char *arg_type(const struct arg *a); /* i64 if nothing is said */
bool arg_is_buffer(const struct arg *a);
bool arg_is_written(const struct arg *a);                                     /* an output or inout */
bool op_checks(const struct op *op, enum check_kind kind);                    /* whether anything that is written is checked so */
bool op_fills_bits(const struct op *op, enum fill fill); /* whether a buffer without data of its own holds any bits, not numbers */
const struct check *op_arg_check(const struct op *op, int arg);               /* of what is written */
void op_data_print(struct buf *out, const struct op *op, const char *before); /* names of data files, if there are any */
bool data_said(const struct arg_data *d);  /* whether the script says anything about it, */
bool data_given(const struct arg_data *d); /* and more than peaks, so that other numbers may not do */
/* Whether its launches find an argument in the __constant__ array that it names. */
bool arg_is_constant(const struct op *op, const struct variant *v, int arg);
bool op_proves(const struct op *op);                      /* it says what is right: a reference, or a file for each output */
const char *op_reference(const struct op *op);            /* how messages call its reference */
bool axis_takes(const struct axis *a, int64_t size);      /* flags 0 or 1, the others at least 1 */
bool launch_repeats(const struct launch *l);              /* it uses ROUND, or may */
bool launch_plain(const struct launch *l);                /* it has nothing behind `args` */
int view_rank(const struct op *op, const struct view *v); /* of a texture */
int view_align(const struct view *v);                     /* what the address of its buffer must be a multiple of; 1: nothing */

/* The row that a user names: "f32" (the first row whose first type is that) or "T=f16,ACC=f32". -1 and a message if there is none. */
int op_row(const struct op *op, const char *text, struct err *err);
void op_row_print(struct buf *out, const struct op *op, int row); /* "f32"; if the op has several types, "T=f16,ACC=f32" */
const struct dtype *op_arg_dtype(const struct op *op, const char *type, int row); /* resolves arg.type / workspace.type */

/* Reads "m=1111,n=113": each axis once, in any order; those with a default may be left out. Printing leaves them out where they have it, and
 * keeps the op's order: so a problem has one text. */
int problem_parse(const struct op *op, const char *text, struct problem *out, struct err *err);
void problem_print(struct buf *out, const struct op *op, const struct problem *p);
/* The default of an axis that has one, for these values of the axes before it; and whether it has that here. */
int axis_preset(const struct op *op, int axis, const struct problem *p, int64_t *out, struct err *err);
bool axis_is_preset(const struct op *op, int axis, const struct problem *p);

/* "TILE=32,ROWS=8,PAD=1,GRID=x" in the variant's order; "" for a variant without parameters. */
void config_print(struct buf *out, const struct op *op, const struct config *c);
/* The same as a JSON object, {"TILE":32,"ROWS":8,"PAD":true,"GRID":"x"}, as the database keeps it: with the types of the values. And from
 * there to the text; false if config_print_json would not have written it so. */
void config_print_json(struct buf *out, const struct op *op, const struct config *c);
void config_print_member(struct buf *out, bool first, const char *name, struct val value); /* a part of it */
bool config_of_json(struct buf *out, const char *json);
/* Parameters with just the values of a configuration as JSON, on the arena; false if that is none, or without memory. */
bool config_params(struct arena *a, const char *json, struct variant *v);
/* Reads the text, in any order; parameters left out take their defaults. `variant` may be null if the op has one, or if the names
 * and values fit one variant only. "variant=tile,TILE=32" names it inside. */
int config_parse(const struct op *op, const char *variant, const char *text, struct config *out, struct err *err);

/* Checks what the parts of an op mean together: indices, names, types and values. Whoever made the op has seen to its counts, and that
 * nothing lacks which must be there: the reader of scripts, or op_get. plan_new checks the expressions. An op may lack variants or a
 * reference. */
int op_check(const struct op *op, struct err *err);
int param_distinct(const struct param *p, struct err *err); /* its part: no value is there twice */
int texture_check(const struct op *op, const struct variant *v, const struct view *of,
                  struct err *err); /* its part, of a texture */

/* A hash of what verification rests on: the check, the reference, and what arguments are filled with. */
int op_contract(const struct op *op, char hash[HASH_HEX], struct err *err);
/* A hash of what the sources and launches of a variant are made from. */
int variant_made(const struct op *op, const struct variant *v, char hash[HASH_HEX], struct err *err);

/* The whole op as bytes and back. op_get bounds every count, requires what must be there, and ends with op_check, so it refuses bytes of a
 * broken or hostile child. `lines`: each text in it must be one line of UTF-8, of at most MAX_LINE bytes. */
void op_put(struct buf *out, const struct op *op);
int op_get(struct cursor *in, bool lines, struct op **out, struct err *err);

#define WORD_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
/* True for a name cutune accepts: a letter or _, then letters, digits, _; at most MAX_NAME bytes. */
bool name_ok(const char *s);
/* True for what can be a kernel's name in C++: at most MAX_ENTRY bytes, and none that could end it. */
bool entry_ok(const char *s);
/* UTF-8 of at most `max` bytes without control characters; if `many_lines`, any text so long. */
bool text_ok(const char *s, size_t max, bool many_lines);

#endif
