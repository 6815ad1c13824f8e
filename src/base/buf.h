/* A buffer of bytes that grows. If an allocation fails, `failed` is set and later calls do nothing, so a writer checks once, at its
 * end. A zero byte follows what was put, so that a text is a C string. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
    char *data;
    size_t len, cap;
    bool failed;
};

void buf_put(struct buf *b, const void *p, size_t n);
void buf_str(struct buf *b, const char *s);
void buf_fmt(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vfmt(struct buf *b, const char *fmt, va_list args);
void buf_clear(struct buf *b);             /* length 0, memory kept */
void buf_free(struct buf *b);              /* and ready for use again */
const char *buf_text(const struct buf *b); /* never null: "" if it is empty */
struct err;
int buf_check(const struct buf *b, struct err *err); /* ERR_NOMEM if it failed, else 0 */

/* The wire form of values: little-endian, fixed width; text and bytes with a 32-bit length in front. */
void buf_u8(struct buf *b, uint8_t v);
void buf_u32(struct buf *b, uint32_t v);
void buf_i64(struct buf *b, int64_t v);
void buf_f64(struct buf *b, double v);
void buf_lstr(struct buf *b, const char *s); /* null is another value than "" */
void buf_bytes(struct buf *b, const void *p, size_t n);

/* Reads the wire form back. Past the end, or at a length that does not fit, `bad` is set and zeros come back, so a reader checks once. */
struct cursor {
    const char *at, *end;
    bool bad;
};
struct cursor cursor_on(const void *p, size_t n);
uint8_t get_u8(struct cursor *c);
uint32_t get_u32(struct cursor *c);
int64_t get_i64(struct cursor *c);
double get_f64(struct cursor *c);
/* A pointer into the cursor's memory; the length goes to *n. Null if null was written, or after a failure. Text has no zero byte in it
 * and NONE AFTER IT: copy it with arena_strndup or mem_strndup. */
const char *get_lstr(struct cursor *c, size_t *n);
const void *get_bytes(struct cursor *c, size_t *n);

#endif
