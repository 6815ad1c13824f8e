/* The options that several commands have: their lines for a command's argp table, and their one parser. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

enum { MAX_WORDS = 256 };

struct args {
    const char *op, *device, *db;
    const char *shapes[MAX_WORDS], *dtypes[MAX_WORDS];
    int nshapes, ndtypes;
    bool json;
    /* Set by the command before parsing. */
    bool op_needed; /* --op must be there */
    bool several;   /* --shape and --dtype may be repeated */
};

enum { KEY_OP = 0x200, KEY_SHAPE, KEY_DTYPE, KEY_DEVICE, KEY_DB, KEY_JSON, KEY_OWN = 0x300 /* a command's own start here */ };

#define OPT_OP                                                                                                                     \
    {                                                                                                                              \
        "op", KEY_OP, "NAME|FILE.lua", 0, "The op: a name that `cutune ops` lists, or a script", 0                                 \
    }
#define OPT_SHAPE(text)                                                                                                            \
    {                                                                                                                              \
        "shape", KEY_SHAPE, "m=1111,n=113", 0, text, 0                                                                             \
    }
#define OPT_DTYPE(text)                                                                                                            \
    {                                                                                                                              \
        "dtype", KEY_DTYPE, "i32|T=f16,...", 0, text, 0                                                                            \
    }
#define OPT_DEVICE                                                                                                                 \
    {                                                                                                                              \
        "device", KEY_DEVICE, "cuda:0|opencl:0|null:0", 0, "The device; without it the best one that is present", 0                \
    }
#define OPT_DB                                                                                                                     \
    {                                                                                                                              \
        "db", KEY_DB, "FILE", 0, "The database; without it $CUTUNE_DB, or cutune/tuned.db among the user's data", 0                \
    }
#define OPT_JSON                                                                                                                   \
    {                                                                                                                              \
        "json", KEY_JSON, NULL, 0, "Print JSON", 0                                                                                 \
    }

/* Ends a command's table, with the short form of --help that people try. */
#define OPT_END                                                                                                                    \
    { NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0 },                                                                                   \
    {                                                                                                                              \
        0                                                                                                                          \
    }

/* The default case of a command's parser: takes the options above, refuses other words. */
error_t args_key(int key, char *arg, struct args *args, struct argp_state *state);

/* A message about the command line, one line, and exit code 2. */
void args_error(struct argp_state *state, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Reads a whole number in decimal digits, without a sign; false where it is none or too large. */
bool number_read(const char *text, uint64_t max, uint64_t *out);

#endif
