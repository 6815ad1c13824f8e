/* A recorded space: configurations with what came of each and what trying it cost, from a file. A strategy can search it without a
 * device. Files are strangers': every count is bounded, and what makes no sense is an error that names the file and the place.
 *
 * Read are
 *   - what cutune itself writes: `cutune list --measurements --json`, `cutune export --format json`; a space for each problem;
 *   - T4 result files;
 *   - Kernel Tuner's cache files, also those whose last braces are missing because nobody has closed them;
 * each as it is or gzipped. */
#ifndef REPLAY_TABLE_H
#define REPLAY_TABLE_H

#include "model/record.h"
#include "space/space.h"

struct recorded_trial {
    enum outcome outcome;
    double time_ns;            /* of what is ok */
    double compile_s, seconds; /* to compile it; all that trying it took, with that */
    bool slower;               /* of what is ok: it was cut, and its time is that of one launch */
    /* Only of tables that are read whole. */
    const char *reason, *when; /* null: the file does not say */
    double joules;             /* of a run; 0: not measured */
    int nsamples;
    const double *samples; /* ns */
    int counted;           /* samples that the file does not have, but says there were */
};

/* What a file says of where its results come from; null for what it does not say. */
struct origin {
    const char *op, *types, *sizes, *backend, *device, *arch, *cache, *driver, *tool;
};

struct recorded_space {
    char *title; /* the file, and the problem if there are several in it */
    struct origin origin;
    struct op *op; /* of a file that does not name the variant, its only one is UNNAMED */
    struct space *space;
    struct recorded_trial *trials; /* by the index in the space */
    bool costs;                    /* false: the file does not say what trying took, so each counts a second */
};

#define UNNAMED "recorded"

struct tables {
    struct recorded_space **at;
    int n;
    bool whole; /* for the readers: texts and samples are kept, too */
};

/* Appends all spaces of a file. */
int tables_read(const char *path, struct tables *out, struct err *err);
void tables_free(struct tables *t);

enum { MAX_RECORDED = 1 << 22 }; /* configurations of a space */
static const size_t MAX_TABLE_TEXT = (size_t)1 << 30;

/* The text of a file, gunzipped if it is gzipped: gz.c. For a reader that has the text already: tables_parse. */
int text_read(const char *path, struct buf *out, struct err *err);
int tables_parse(const char *path, const struct buf *text, struct tables *out, struct err *err);

#endif
