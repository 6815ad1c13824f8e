/* Files of versions 1 to 4. */
#ifndef STORE_OLDER_H
#define STORE_OLDER_H

#include "store/sql.h"

/* Whether the file's definitions are those of its version; ERR_CORRUPT with a line if they are not. */
int older_check(struct store *s, int version, struct err *err);
/* From here on, statements find the tables as the newest version has them. Nothing is written. */
int older_read(struct store *s, int version, struct err *err);
/* Called by query_begin for a store that is read so: another program may have migrated the file since. */
int older_left(struct store *s, struct err *err);
/* Makes the file one of the newest version, inside a writing transaction and without foreign keys being enforced. */
int older_migrate(struct store *s, int version, struct err *err);

#endif
