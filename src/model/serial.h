/* The serial form's two directions in one: a function names the members of its struct once, and writes or reads them. Over the wire form
 * of base/buf.h. */
#ifndef MODEL_SERIAL_H
#define MODEL_SERIAL_H

#include "base/buf.h"
#include "base/mem.h"
#include "expr/val.h"
#include "model/devspec.h"
#include "model/op.h"
#include "model/record.h"

/* Writing, only `out` is set, and nothing that is written is changed. Reading, `in` is, and what comes is copied to the arena. Reading goes on with
 * zeros after the first failure, so callers ask once, at the end. */
struct serial {
    struct buf *out;
    struct cursor *in;
    struct arena *arena;
    bool lines; /* reading: a text is one line of at most MAX_LINE bytes of UTF-8 */
    int form;   /* of the bytes, see op_serial.c */
    bool nomem;
};

bool serial_failed(const struct serial *s);

void io_bool(struct serial *s, bool *v);
/* A byte. Here and below, what lies outside of the bounds is a failure. */
void io_enum(struct serial *s, unsigned *v, unsigned most);
void io_int(struct serial *s, int *v, int least, int most); /* 32 bits */
void io_number(struct serial *s, int64_t *v, int64_t least, int64_t most);
void io_time(struct serial *s, double *v);               /* from 0 to TIME_MAX */
void io_text(struct serial *s, char *text, size_t room); /* an array with room for so many bytes */
void io_str(struct serial *s, const char **v);           /* null is told from "" */
void io_given(struct serial *s, const char **v);         /* the same, but null is a failure */
void io_val(struct serial *s, struct val *v);
/* How many things follow. More of them than bytes are left are a failure, too, and then it is 0. */
void io_count(struct serial *s, int *n, int least, int most);
/* A count, and then room for so many things, whose members are the caller's to read. `array` is the address of the pointer to them. */
void io_array(struct serial *s, void *array, int *n, int least, int most, size_t bytes);
void io_ints(struct serial *s, int **v, int *n, int most);

enum { OP_FORM = '6' }; /* what op_put writes */
/* An op in that form or an older one; parts of an op. */
void op_put_form(struct buf *out, const struct op *op, int form);
void io_launch(struct serial *s, struct launch *l);       /* what every launch has; */
void io_launch_more(struct serial *s, struct launch *l);  /* what most have nothing of; */
void io_whole_launch(struct serial *s, struct launch *l); /* both, as far as the form has them */
void io_workspaces(struct serial *s, struct variant *v);

void io_config(struct serial *s, const struct op *op, struct config *c);
void io_devspec(struct serial *s, struct devspec *d);
void io_result(struct serial *s, struct result *r); /* after a failure, too, result_free it */

#endif
