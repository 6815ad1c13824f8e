/* Where the database lies when nobody says. */
#include <stdlib.h>

#include "base/util.h"
#include "store/store.h"

int store_default_path(bool create, char **out, struct err *err)
{
    const char *given = getenv("CUTUNE_DB"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    struct buf path = { 0 };
    bool ours = !given || !*given;
    if (!ours)
        buf_str(&path, given);
    else if (data && *data == '/') /* a relative one is to be ignored, says its specification */
        buf_fmt(&path, "%s/cutune/tuned.db", data);
    else if (home && *home == '/')
        buf_fmt(&path, "%s/.local/share/cutune/tuned.db", home);
    else
        return err_set(err, ERR_NOTFOUND, "no place for the database: set CUTUNE_DB to its path, or HOME");
    int rc = buf_check(&path, err);
    if (!rc && create && ours)
        rc = make_folders(path.data, err);
    if (rc)
        buf_free(&path);
    else
        *out = path.data;
    return rc;
}
