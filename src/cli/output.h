/* A file that a command writes.
 *
 * One that is there stays whole until the new one is: the new one is made beside it, under a name that nobody can foresee, and takes
 * its place, mode and owner at the end. A link is followed. What is no regular file (a FIFO, a device) and what stdout is already are
 * written straight into.
 *
 * Nothing that holds measurements is replaced: no database, whatever its name, nothing that belongs to one (X-wal, X-shm, X-journal),
 * and not this program. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"

/* Writes the text. Path null: to the standard output, whose failures main tells. */
int output_write(const char *path, const struct buf *text, struct err *err);

/* Refuses, for a command that reads `input`, to write over it. */
int output_spares(const char *path, const char *input, struct err *err);
/* Refuses a name that SQLite would take for a part of the database beside it. */
int output_name(const char *path, struct err *err);

/* The steps of it, for a caller that has checked itself what is there: tables may replace tables. */
struct output {
    const char *path;  /* as the user wrote it; must outlive this */
    int fd;            /* to write into */
    char *target;      /* the place that a new file takes; null: written straight into */
    struct buf beside; /* the new file's name until then */
    struct stat old;   /* of the file that is replaced; st_mode 0: there was none */
};
/* If it fails, there is nothing to end. */
int output_begin(struct output *o, const char *path, struct err *err);
/* rc: the result of the writing. If that failed, the old file stays, and rc is returned. */
int output_end(struct output *o, int rc, struct err *err);

#endif
