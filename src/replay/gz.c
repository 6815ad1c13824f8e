#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/util.h"
#include "replay/table.h"

int text_read(const char *path, struct buf *out, struct err *err)
{
    static const size_t part = 1 << 20;
    int fd = -1, opened = file_open(path, &fd, err);
    if (opened)
        return opened;
    gzFile file = gzdopen(fd, "rb");
    if (!file) {
        close(fd);
        return err_nomem(err);
    }
    char *bytes = mem_alloc(part);
    int n = bytes ? 1 : 0, rc = bytes ? 0 : err_nomem(err), why;
    while (!rc && (n = gzread(file, bytes, (unsigned)part)) > 0) {
        buf_put(out, bytes, (size_t)n);
        rc = buf_check(out, err);
        if (!rc && out->len > MAX_TABLE_TEXT)
            rc = err_set(err, ERR_INVALID, "%s: more than %zu MB of text", path, MAX_TABLE_TEXT >> 20);
    }
    const char *word = gzerror(file, &why);
    if (!rc && (n < 0 || why != Z_OK)) /* one that is cut gives what is there, and Z_BUF_ERROR */
        rc = why == Z_ERRNO       ? err_set(err, ERR_IO, "%s: %s", path, strerror(errno))
             : why == Z_BUF_ERROR ? err_set(err, ERR_INVALID, "%s: the gzipped file is cut short", path)
                                  : err_set(err, ERR_INVALID, "%s: no gzipped file that can be read: %s", path, word);
    mem_free(bytes);
    gzclose(file);
    return rc;
}
