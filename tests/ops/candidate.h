/* A kernel to be checked: an op's reference or a configuration of one of its variants, compiled once and run over many problems. */
#ifndef CANDIDATE_H
#define CANDIDATE_H

#include "data.h"

struct candidate {
    const struct session *session;
    const struct op *op;
    const struct config *config; /* null: the reference */
    int row;
    struct plan *plan;
    struct guest_code *module;
};

/* Renders, compiles and loads. `first` is a problem that the configuration may run, for compilers that want to try it. Call
 * candidate_end also after a failure. */
int candidate_begin(const struct session *s, const struct op *op, const struct config *config, int row, const struct problem *first,
                    struct candidate *out, struct err *err);
void candidate_end(struct candidate *c);

/* Runs it on the data, in every pass. wrong: what is, or "". ERR_UNSUPPORTED where the kernel needs more of the device than there is,
 * as shows only after compiling; other errors are the launch's. */
int candidate_run(const struct candidate *c, const struct data *d, char wrong[WRONG], struct err *err);

#endif
