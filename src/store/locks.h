/* Whether locks work where a database lies: with none, two writers would damage it. */
#ifndef STORE_LOCKS_H
#define STORE_LOCKS_H

#include "base/err.h"

/* Asks on a file of its own beside `path`, which it removes: closing the database's own would let go of SQLite's locks on it. Locks
 * that work on one machine and not between two are not told apart. */
int check_locks(const char *path, struct err *err);

#endif
