/* A database's file: its names, by which SQLite finds its log and journal, what lies beside it, and whether locks work there. */
#ifndef STORE_BESIDE_H
#define STORE_BESIDE_H

#include "store/store.h"

/* Where symbolic links lead: the one name that every program's SQLite uses; the path itself if nothing is there. The caller's to free. */
int real_path(const char *path, char **out, struct err *err);

/* Refuses a log, journal or index that is no plain file of one name: SQLite would wait for a FIFO for ever, and write through a link. */
int check_beside(const char *real, struct err *err);

/* Remembers which file the path leads to, for store_replaced; false if it leads to none. */
bool watch_file(struct store *s);

/* ERR_IO with a line if the log or journal of a writer that has not ended, or was killed, lies beside the file. */
int check_log(const char *real, const char *advice, struct err *err);

/* Whether the file has more than one name (hard links). Then two programs may have a log each, and neither knows of the other's. */
bool has_names(const char *real);
int refuse_names(const char *path, struct err *err);

/* Whether locks work there: with none, two writers would damage the database. Asks on a file of its own, which it removes, because
 * closing the database's own would let go of SQLite's locks on it. Locks that work on one machine and not between two are not told
 * apart. */
int check_locks(const char *path, struct err *err);

#endif
