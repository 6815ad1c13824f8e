/* The commands, the words of a command line, and what they name.
 *
 * Exit codes, the same for every command:
 *   0  done
 *   1  the command line was right but it could not be done: no such device here, a database that cannot be read, a script with an
 *      error in it, no configuration that is right, an interrupt; or it was not done in full: damaged rows of a database were left out
 *   2  the command line was wrong: an unknown command, option, op, type, variant or strategy; a value that is malformed or out of
 *      range
 * Results go to stdout; messages and progress, a line each, to stderr. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <argp.h>
#include <stddef.h>

#include "cli/text.h"
#include "store/store.h"

enum { DONE = 0, FAILED = 1, USAGE = 2 };

/* The command line was wrong: one more code beside those of base/err.h. */
enum { ERR_USAGE = -100 };

/* ---- the words */

enum { MAX_WORDS = 256 };

struct words {
    const char *at[MAX_WORDS];
    int n;
};

/* What the command line says; null, false or 0 for what it does not say. */
struct args {
    struct words ops, shapes, dtypes, include_dirs, budgets,
        words; /* words: the arguments that are no options, if there may be several */
    const char *op, *rename;
    bool claims, verify;
    const char *device, *db, *variant, *config, *arch, *from, *t1;
    const char *strategy, *effort, *target, *patience, *seed, *jobs, *repeats, *played, *objective, *reference, *reference_time,
        *trace, *progress, *parent;
    const char *format, *output, *compare, *ptx_choice, *kernels, *into;
    const char *word; /* the argument that is no option */
    bool json, csv, list, measurements, wanted, retune, warm, no_cut, no_neighbours, no_cache, quiet;
    bool source, ptx, resources, remove, defaults;
};

/* An option's key says what is to be done with its word: it is kept in a member of struct args. */
enum { KEY_WORD = 0x10000, KEY_FLAG = 0x20000, KEY_ONCE = 0x30000, KEY_EACH = 0x40000 };
#define WORD(member) (KEY_WORD + (int)offsetof(struct args, member)) /* the last one given counts */
#define FLAG(member) (KEY_FLAG + (int)offsetof(struct args, member))
#define ONCE(member) (KEY_ONCE + (int)offsetof(struct args, member)) /* struct words, but a second one is an error */
#define EACH(member) (KEY_EACH + (int)offsetof(struct args, member)) /* struct words */

/* A command's options: OPTIONS({ OPT_OP }, { OPT_SHAPE("...") }, ...) */
#define OPTIONS(...)                                                                                                               \
    (const struct argp_option[])                                                                                                   \
    {                                                                                                                              \
        __VA_ARGS__, { OPT_HELP },                                                                                                 \
        {                                                                                                                          \
            0                                                                                                                      \
        }                                                                                                                          \
    }
#define OPT_OP "op", WORD(op), "NAME|FILE.lua", 0, "The op: a name that `cutune ops` lists, or a script", 0
#define OPT_INCLUDE                                                                                                                \
    "include-dir", EACH(include_dirs), "DIR", 0,                                                                                   \
        "A folder with headers that kernels include, beside the CUDA toolkit's own; may be given again", 0
#define OPT_SHAPE(text)  "shape", ONCE(shapes), "m=1111,n=113", 0, text, 0
#define OPT_DTYPE(text)  "dtype", ONCE(dtypes), "i32|T=f16,...", 0, text, 0
#define OPT_OUTPUT(text) "output", 'o', "FILE", 0, text, 0
#define OPT_DEVICE                                                                                                                 \
    "device", WORD(device), "cuda:0|opencl:0|null:0", 0, "The device, as `cutune devices` names it; without it the best one", 0
#define OPT_ARCH(what) "arch", WORD(arch), "sm_90", 0, what " for this CUDA architecture, of which no device need be there", 0
#define OPT_DB                                                                                                                     \
    "db", WORD(db), "FILE", 0, "The database; without it $CUTUNE_DB, else cutune/tuned.db in $XDG_DATA_HOME or ~/.local/share", 0
#define OPT_JSON    "json", FLAG(json), NULL, 0, "Print JSON", 0
#define OPT_HELP    NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0 /* the short form of --help that people try */
#define OWN_SHAPE   "The problem's sizes; without it the first of the op's own shapes for this device"
#define USUAL_DTYPE "The problem's element types; without it f32, or the op's first"

/* ---- a command */

/* What a command works on: its words, and what it has found for them. main frees it. */
struct request {
    struct args args;
    char **words;     /* the command line after the command's name; null ends them */
    const char *home; /* of request_op */
    struct op **ops;  /* all that were read, */
    int nops;
    struct op *op; /* the last of them; null: none */
    struct devspec dev;
    struct problem *problems;
    int nproblems;
    int *rows; /* of the op's types */
    int nrows;
    struct store *store;
};

/* Functions of this folder that can fail return 0; or a negative code with a line in err, which main prints; or FAILED, if they have
 * printed already what was wrong. */
struct command {
    const char *name, *summary;
    const struct argp_option *options;
    const char *doc;
    const char *word; /* what the argument that is no option is, in the help; null: there is none */
    bool words;       /* there may be several */
    int (*run)(struct request *r, struct err *err);
};
extern const struct command run_command, lookup_command, list_command, space_command, show_command, export_command, header_command,
    tables_command, devices_command, ops_command, new_op_command, simulate_command, import_command, doctor_command, bench_command,
    pin_command, cover_command, report_command;

extern const struct command *const commands[]; /* ends with a null */
const struct command *command_find(const char *name); /* null: there is none */
#define PROGRAM_DOC "Tunes compute kernels for the devices at hand and remembers what was fastest."
#define PROGRAM_EXAMPLES                                                                                                           \
    "Examples:\n"                                                                                                                  \
    "  cutune run --op NAME\n"                                                                                                     \
    "  cutune lookup --op NAME --shape m=4096,n=4096 --dtype f32\n"                                                                \
    "  cutune help run"
/* Beside the commands: program.c. The last has no name. */
struct told {
    const char *name, *text;
    const char *of; /* the commands whose pages tell it, by their names or those of options that they have; null: all */
};
extern const struct told program_options[], program_environment[], program_files[];
#define EXIT_STATUS "0 done, 1 failed, 2 the command line was wrong."

/* Reads a command's options; argv[0] is "cutune NAME". After --help, and if argp finds an error, the process ends here. */
int args_read(const struct command *c, int argc, char **argv, struct args *args, struct err *err);
/* The same of words that are still being typed: says nothing, ends nothing, and takes what comes before the first error. */
void args_glance(const struct command *c, int argc, char **argv, struct args *args);
/* Where argp prints what is asked for; and what of it is printed at the end: help.c. */
FILE *help_stream(void);
bool help_print(void); /* false: it could not */

/* `cutune complete LINE`, for shells: complete.c; `cutune manual FOLDER`, for the build: manual.c. Exit codes. */
int complete_line(const char *line);
int manual_write(const char *folder);

/* Reads an op by the word that a user gave for it, null if he gave none: into r->op. */
int request_op(struct request *r, const char *word, struct err *err);
/* Puts the reference of --reference in the place of the op's. */
int request_reference(struct request *r, struct err *err);
/* The device of --device, or the best one. */
int request_device(struct request *r, struct err *err);
/* Types and problems; the op must be there. Without --dtype: f32, or the op's first types. Without --shape: if `own`, the op's own shapes
 * for the device, at least one; else none. */
int request_problems(struct request *r, bool own, struct err *err);
/* Op, device and problems. */
int request_all(struct request *r, struct err *err);

/* What of the stored results is meant, as the database writes it, from the word of --op, --shape and --dtype; empty: any. */
enum { FILTER_OP, FILTER_TYPES, FILTER_PROBLEM, FILTERS };
int request_filter(struct request *r, const char *word, struct buf filter[FILTERS], struct err *err);

/* Of the words of --op, which may be repeated, each script becomes the name that it gives. */
int request_op_names(struct request *r, struct err *err);
/* "cuda:0" becomes the name of what is there; every other word of --device is one of the database's. */
int request_device_name(struct request *r, struct err *err);

/* The configuration of --variant and --config; what it is not valid by for the first problem, here, goes to `refused`. */
int request_config(const struct request *r, struct config *c, struct buf *refused, struct err *err);

/* Opens --db, or the default database. */
int request_database(struct request *r, enum store_mode mode, struct err *err);
/* The same for a command that only reads: if the default database is not there yet, 0, and r->store stays null. */
int request_read(struct request *r, struct err *err);
/* If any rows were damaged and left out, says how many in a line: then what was done is not all, and a `rc` of 0 becomes FAILED. */
int request_damage(const struct request *r, int rc);
int damage_told(const struct store *s, int n, int rc); /* the same of so many rows */

/* Writes a text, to the standard output if path is null; not over a file of an op that the request has read. */
int request_write(const struct request *r, const char *path, const struct buf *text, struct err *err);

void request_free(struct request *r);

#endif
