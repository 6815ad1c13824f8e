/* Long texts, such as a kernel's source, are stored packed: four bytes that say how long they are, the lowest first, and what zlib made of
 * them. Kernels of one template have most of their source in common with others, and shrink to a third. */
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "store/sql.h"

enum { HEAD = 4 };

int text_pack(const char *text, struct buf *out, struct err *err)
{
    size_t n = strlen(text);
    uLongf room = compressBound(n);
    void *bytes = n <= MAX_SOURCE ? mem_alloc(room) : NULL;
    if (n <= MAX_SOURCE && (!bytes || compress(bytes, &room, (const void *)text, n) != Z_OK)) {
        mem_free(bytes);
        return err_nomem(err);
    }
    if (bytes && room + HEAD < n) {
        buf_u32(out, (uint32_t)n);
        buf_put(out, bytes, room);
    }
    mem_free(bytes);
    return buf_check(out, err);
}

size_t packed_length(const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    return n > HEAD ? b[0] | b[1] << 8 | b[2] << 16 | (size_t)b[3] << 24 : 0;
}

int text_unpack(const void *bytes, size_t n, char *text)
{
    uLongf length = packed_length(bytes, n), taken = n - HEAD;
    int code = uncompress2((void *)text, &length, (const unsigned char *)bytes + HEAD, &taken);
    if (code == Z_MEM_ERROR)
        return ERR_NOMEM;
    return code == Z_OK && length == packed_length(bytes, n) && taken == n - HEAD ? 0 : ERR_CORRUPT;
}
