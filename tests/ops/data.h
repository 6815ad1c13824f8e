/* The data of one problem: the contents of each buffer before a kernel runs, and what they must be afterwards, with guard zones. */
#ifndef DATA_H
#define DATA_H

#include "cases.h"
#include "device/device.h"
#include "measure/tolerance.h"

/* Of an open device, and a compiler for it. */
struct session {
    const struct backend *be;
    struct devspec spec;
    struct compiler *compiler;
    struct device *dev;
};

/* Two passes, with other inputs, scalars and another poison each. A sum is made of whole numbers in the first, and is then exact; scalars
 * have their tuned values there. */
enum { PASSES = 2, GUARD = 64 << 10 };
int poison(int pass);

/* Device memory with a guard zone of GUARD bytes before and behind it. */
struct guarded {
    struct memory *whole, *inside;
    int64_t bytes, total;
};
int guarded_alloc(const struct session *s, int64_t bytes, struct guarded *out, struct err *err);
void guarded_free(const struct session *s, struct guarded *g); /* also where alloc failed, or of zeros */

struct buffer {
    struct guarded memory;
    const struct arg *arg;
    const struct dtype *type;
    unsigned char *before[PASSES], *after[PASSES]; /* of memory.total bytes; an input's are the same */
    struct tolerance tolerance[PASSES];
};

struct data {
    const struct session *session;
    const struct op *op;
    int row;
    struct problem problem;
    struct karg values[PASSES][MAX_ARGS]; /* of arguments that are no buffers */
    struct buffer buffers[MAX_ARGS];
};

/* ERR_UNSUPPORTED where tests/ref has nothing for these types. Call data_end also after a failure. */
int data_begin(const struct session *s, const struct known_op *known, const struct op *op, int row, const struct problem *problem,
               uint64_t seed, struct data *out, struct err *err);
void data_end(struct data *d);

/* Writes what stands before a run. */
int data_reset(const struct data *d, int pass, struct err *err);

/* Reads everything back. wrong: what is, and "" where all is as it must be. */
enum { WRONG = 200 };
int data_compare(const struct data *d, int pass, char wrong[WRONG], struct err *err);
/* The same for the guard zones of memory whose contents are free: a workspace. */
int guards_compare(const struct session *s, const struct guarded *g, int pass, const char *name, char wrong[WRONG],
                   struct err *err);

#endif
