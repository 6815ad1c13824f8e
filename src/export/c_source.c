#include "export/c_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool same(struct c_word a, struct c_word b)
{
    return a.len == b.len && !memcmp(a.at, b.at, a.len);
}

static bool begins(struct c_word w, const char *prefix)
{
    return w.len > strlen(prefix) && !memcmp(w.at, prefix, strlen(prefix));
}

static const struct c_file *file_of(const struct c_items *c, const struct c_item *i)
{
    return &c->files[i->file];
}

static bool is_tag_word(struct c_word w)
{
    return c_is(w, "struct") || c_is(w, "union") || c_is(w, "enum");
}

/* ---- names in order, to be found quickly */

static int compare_words(struct c_word a, struct c_word b)
{
    int d = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);
    return d ? d : (a.len > b.len) - (a.len < b.len);
}

static int compare_names(const void *a, const void *b)
{
    const struct c_name *x = a, *y = b;
    int d = compare_words(x->word, y->word);
    d = d ? d : x->tag - y->tag;
    return d ? d : (x->item > y->item) - (x->item < y->item);
}

/* The run of equal names; *n is how many, 0 where there is none. */
static const struct c_name *find(const struct c_items *c, struct c_word w, bool tag, int *n)
{
    int low = 0, high = c->nnames;
    while (low < high) {
        int mid = (low + high) / 2;
        int d = compare_words(c->names[mid].word, w);
        d = d ? d : c->names[mid].tag - tag;
        if (d < 0)
            low = mid + 1;
        else
            high = mid;
    }
    *n = 0;
    while (low + *n < c->nnames && c->names[low + *n].tag == tag && same(c->names[low + *n].word, w))
        ++*n;
    return &c->names[low];
}

/* ---- what is needed */

struct marking {
    struct c_items *c;
    int *open; /* kept, and not yet looked through */
    int nopen;
};

static void mark(struct marking *m, int item)
{
    struct c_item *i = &m->c->items[item];
    if (i->kept)
        return;
    i->kept = true;
    m->open[m->nopen++] = item;
    for (int j = 0; j < m->c->nitems; j++) { /* the file's headers, and what stands between directives, come with it */
        struct c_item *other = &m->c->items[j];
        if (other->file == i->file && !other->kept && (other->what == ITEM_ALWAYS || other->what == ITEM_INCLUDE)) {
            other->kept = true;
            m->open[m->nopen++] = j;
        }
    }
}

/* Whose definition a name in `file` means: an embedded one, else the file's own, else everybody's. */
static void mark_name(struct marking *m, struct c_word w, bool tag, int file)
{
    int n;
    const struct c_name *names = find(m->c, w, tag, &n);
    bool embedded = false, own = false, declared = false;
    for (int i = 0; i < n; i++) {
        const struct c_item *item = &m->c->items[names[i].item];
        embedded = embedded || (file_of(m->c, item)->embedded && !item->local);
        own = own || (item->file == file && item->local);
        declared = declared || file_of(m->c, item)->header;
    }
    for (int i = 0; i < n; i++) {
        const struct c_item *item = &m->c->items[names[i].item];
        const struct c_file *f = file_of(m->c, item);
        bool means = own ? item->file == file : f->header || (!item->local && (!embedded || f->embedded));
        if (embedded && own && !declared && !m->c->files[file].embedded) /* a static one that an embedded one stands in for */
            means = f->embedded && !item->local;
        if (means)
            mark(m, names[i].item);
    }
}

/* Several may be declared together, of which not all are needed. */
static bool declares(const struct c_items *c, const struct c_item *item, struct c_word w, bool tag)
{
    int n;
    const struct c_name *names = find(c, w, tag, &n);
    for (int i = 0; i < n; i++)
        if (&c->items[names[i].item] == item)
            return true;
    return false;
}

static void mark_names_in(struct marking *m, const struct c_item *item)
{
    const char *p = item->code;
    struct c_word w, last = { .kind = C_END };
    while ((w = c_next(&p, item->end)).kind != C_END) {
        if (w.kind == C_NAME && !c_is(last, ".") && !c_is(last, "->") && !declares(m->c, item, w, is_tag_word(last)))
            mark_name(m, w, is_tag_word(last), item->file);
        last = w;
    }
}

static int mark_needed(struct c_items *c, const char *prefix, struct err *err)
{
    struct marking m = { .c = c, .open = mem_array((size_t)c->nitems + 1, sizeof *m.open) };
    if (!m.open)
        return err_nomem(err);
    for (int i = 0; i < c->nnames; i++)
        if (!c->names[i].tag && begins(c->names[i].word, prefix))
            mark_name(&m, c->names[i].word, false, -1);
    while (m.nopen > 0)
        mark_names_in(&m, &c->items[m.open[--m.nopen]]);
    mem_free(m.open);
    return 0;
}

/* ---- writing */

/* A file's own name that another file has too is written with the file's behind it. */
static bool clashes(const struct c_items *c, struct c_word w, bool tag, int file)
{
    int n;
    const struct c_name *names = find(c, w, tag, &n);
    bool own = false, others = false;
    for (int i = 0; i < n; i++) {
        const struct c_item *item = &c->items[names[i].item];
        if (!item->kept)
            continue;
        if (tag && file_of(c, item)->header && !names[i].body)
            return false; /* declared there, defined here: there is one */
        own = own || (item->file == file && item->local && !file_of(c, item)->header);
        others = others || item->file != file;
    }
    return own && others;
}

/* "runtime/table.c": "table" */
static void put_stem(struct buf *out, const char *path)
{
    const char *slash = strrchr(path, '/'), *stem = slash ? slash + 1 : path;
    buf_put(out, stem, strcspn(stem, "."));
}

/* Whether it is one of the functions that all is for. */
static bool offered(const struct c_items *c, const struct c_item *item, const char *prefix)
{
    for (int i = 0; i < c->nnames; i++)
        if (&c->items[c->names[i].item] == item && begins(c->names[i].word, prefix))
            return true;
    return false;
}

static void put_item(struct buf *out, const struct c_items *c, const struct c_item *item, const char *prefix)
{
    const char *p = item->code, *done = item->code; /* written so far */
    struct c_word w = c_next(&p, item->end), last = { .kind = C_END };
    buf_put(out, item->at, (size_t)(item->code - item->at));
    if (item->what == ITEM_CODE && !item->local && !offered(c, item, prefix)) {
        buf_str(out, "static ");
        if (c_is(w, "extern"))
            done = w.at + w.len + 1;
    }
    for (; w.kind != C_END; last = w, w = c_next(&p, item->end)) {
        if (w.kind != C_NAME || c_is(last, ".") || c_is(last, "->") || !clashes(c, w, is_tag_word(last), item->file))
            continue;
        buf_put(out, done, (size_t)(w.at + w.len - done));
        buf_str(out, "__");
        put_stem(out, file_of(c, item)->path);
        done = w.at + w.len;
    }
    buf_put(out, done, (size_t)(item->end - done));
}

static void put_file(struct buf *out, const struct c_items *c, int file, const char *prefix)
{
    bool begun = false;
    for (int i = 0; i < c->nitems; i++) {
        const struct c_item *item = &c->items[i];
        if (item->file != file || !item->kept || item->what == ITEM_INCLUDE || item->what == ITEM_USES)
            continue;
        if (!begun)
            buf_fmt(out, "\n/* ==== %s */\n", c->files[file].path);
        begun = true;
        if (memchr(item->at, '\n', (size_t)(item->end - item->at - 1))) /* several lines */
            buf_str(out, "\n");
        put_item(out, c, item, prefix);
    }
}

/* A header after those that it includes. */
static void put_header(struct buf *out, const struct c_items *c, int file, const char *prefix, bool *done)
{
    if (done[file])
        return;
    done[file] = true;
    for (int i = 0; i < c->nitems; i++) {
        const struct c_item *item = &c->items[i];
        const char *p = item->code;
        if (item->file != file || item->what != ITEM_USES)
            continue;
        struct c_word path = c_next(&p, item->end);
        for (int j = 0; j < c->nfiles; j++)
            if (strlen(c->files[j].path) + 2 == path.len && !memcmp(c->files[j].path, path.at + 1, path.len - 2))
                put_header(out, c, j, prefix, done);
    }
    put_file(out, c, file, prefix);
}

/* Each system header once. */
static void put_includes(struct buf *out, const struct c_items *c)
{
    for (int i = 0; i < c->nitems; i++) {
        const struct c_item *item = &c->items[i];
        size_t n = (size_t)(item->end - item->at);
        bool there = !item->kept || item->what != ITEM_INCLUDE;
        for (int j = 0; j < i && !there; j++) {
            const struct c_item *other = &c->items[j];
            there = other->kept && other->what == ITEM_INCLUDE && (size_t)(other->end - other->at) == n &&
                    !memcmp(other->at, item->at, n);
        }
        if (!there)
            buf_put(out, item->at, n);
    }
}

int c_source_write(struct buf *out, const struct c_file *files, int n, const char *prefix, struct err *err)
{
    struct c_items c;
    int rc = c_items_read(files, n, &c, err);
    if (rc)
        return rc;
    qsort(c.names, (size_t)c.nnames, sizeof *c.names, compare_names);
    bool *done = mem_array((size_t)n, sizeof *done);
    rc = done ? mark_needed(&c, prefix, err) : err_nomem(err);
    if (!rc) {
        put_includes(out, &c);
        for (int i = 0; i < n; i++)
            if (files[i].header)
                put_header(out, &c, i, prefix, done);
        for (int i = 0; i < n; i++)
            if (!files[i].header && files[i].embedded)
                put_file(out, &c, i, prefix);
        for (int i = 0; i < n; i++)
            if (!files[i].header && !files[i].embedded)
                put_file(out, &c, i, prefix);
        if (out->failed)
            rc = err_nomem(err);
    }
    mem_free(done);
    c_items_free(&c);
    return rc;
}
