/* The words of a command line, and the options that several commands have. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

enum { MAX_WORDS = 256 };

struct words {
    const char *at[MAX_WORDS];
    int n;
};

/* What the command line says; null, false or 0 for what it does not say. */
struct args {
    struct words ops, shapes, dtypes;
    const char *op;
    const char *device, *db, *variant, *config, *arch;
    const char *strategy, *budget, *seed, *jobs;
    const char *format, *output, *ptx_choice;
    const char *word; /* the argument that is no option */
    bool json, list, measurements, wanted, retune, warm, quiet;
    bool source, ptx, resources;
};

/* An option's key says what is to be done with its word: it is kept in a member of struct args. */
enum { KEY_WORD = 0x10000, KEY_FLAG = 0x20000, KEY_ONCE = 0x30000, KEY_EACH = 0x40000 };
#define WORD(member) (KEY_WORD + (int)offsetof(struct args, member)) /* the last one given counts */
#define FLAG(member) (KEY_FLAG + (int)offsetof(struct args, member))
#define ONCE(member) (KEY_ONCE + (int)offsetof(struct args, member)) /* struct words, but a second one is an error */
#define EACH(member) (KEY_EACH + (int)offsetof(struct args, member)) /* struct words */

/* The insides of a command's options: { OPT_OP }, { OPT_SHAPE("...") }, ... { OPT_HELP }, { 0 } */
#define OPT_OP          "op", WORD(op), "NAME|FILE.lua", 0, "The op: a name that `cutune ops` lists, or a script", 0
#define OPT_SHAPE(text) "shape", ONCE(shapes), "m=1111,n=113", 0, text, 0
#define OPT_DTYPE(text) "dtype", ONCE(dtypes), "i32|T=f16,...", 0, text, 0
#define OPT_DEVICE                                                                                                                 \
    "device", WORD(device), "cuda:0|opencl:0|null:0", 0, "The device, as `cutune devices` names it; without it the best one", 0
#define OPT_DB                                                                                                                     \
    "db", WORD(db), "FILE", 0, "The database; without it $CUTUNE_DB, else cutune/tuned.db in $XDG_DATA_HOME or ~/.local/share", 0
#define OPT_JSON "json", FLAG(json), NULL, 0, "Print JSON", 0
#define OPT_HELP NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0 /* the short form of --help that people try */

#endif
