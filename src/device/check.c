#include "device/measuring.h"

#include <inttypes.h>
#include <stdio.h>

int check_alloc(const struct devspec *spec, int64_t bytes, struct err *err)
{
    if (bytes < 1)
        return err_set(err, ERR_INVALID, "a buffer of %" PRId64 " bytes: at least 1 is needed", bytes);
    if (bytes > spec->max_alloc)
        return err_set(err, ERR_NOMEM, "a buffer of %" PRId64 " bytes: %s:%d takes at most %" PRId64, bytes, spec->backend,
                       spec->index, spec->max_alloc);
    return 0;
}

int check_part(const char *what, int64_t offset, int64_t bytes, int64_t size, struct err *err)
{
    if (offset >= 0 && bytes >= 0 && offset <= size && bytes <= size - offset)
        return 0;
    return err_set(err, ERR_INVALID, "%s of %" PRId64 " bytes at %" PRId64 ": the buffer has %" PRId64, what, bytes, offset, size);
}

int check_view(int64_t offset, int64_t bytes, int64_t size, struct err *err)
{
    if (offset % GUEST_ALIGN)
        return err_set(err, ERR_INVALID, "a view at byte %" PRId64 ": must be a multiple of %d", offset, GUEST_ALIGN);
    if (bytes < 1)
        return err_set(err, ERR_INVALID, "a view of %" PRId64 " bytes: at least 1 is needed", bytes);
    return check_part("a view", offset, bytes, size, err);
}

int check_scalar(int i, int bytes, struct err *err)
{
    const int most = sizeof((struct guest_param){ 0 }.value);
    if (bytes >= 1 && bytes <= most)
        return 0;
    return err_set(err, ERR_INVALID, "kernel argument %d: a scalar of %d bytes; 1 to %d are possible", i + 1, bytes, most);
}

const char *param_name(const struct guest_launch *l, int i, char out[PARAM_NAME])
{
    const char *name = l->names ? l->names[i] : NULL;
    snprintf(out, PARAM_NAME, name ? "kernel argument %d (%s)" : "kernel argument %d", i + 1, name);
    return out;
}

int wrong_size(const struct guest_launch *l, int i, size_t takes, size_t gives, struct err *err)
{
    char name[PARAM_NAME];
    const char *said = l->names ? l->names[i] : NULL;
    char hint[2 * MAX_NAME + 48] = "";
    if (takes == 4 && gives == 8 && said && l->params[i].kind == GUEST_VALUE)
        snprintf(hint, sizeof hint, ": for an int say value(\"%.*s\", \"%.*s\", \"i32\")", MAX_NAME, said, MAX_NAME, said);
    return err_set(err, ERR_INVALID, "%s: the kernel takes %zu bytes, the launch gives %zu%s", param_name(l, i, name), takes, gives, hint);
}

int wrong_count(const struct guest_launch *l, int takes, const char *more, struct err *err)
{
    struct buf names = { 0 };
    for (int i = 0; l->names && i < l->nparams; i++)
        buf_fmt(&names, "%s%s", i ? ", " : " (", l->names[i] ?: "?");
    if (names.len)
        buf_str(&names, ")");
    int rc = err_set(err, ERR_INVALID, "the kernel takes %d arguments, the launch gives %d%s%s", takes, l->nparams, buf_text(&names), more);
    buf_free(&names);
    return rc;
}

int check_geometry(const struct devspec *spec, const struct geometry *g, int64_t dynamic_shared, struct err *err)
{
    int64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (g->grid[i] < 1 || g->grid[i] > spec->max_grid[i])
            return err_set(err, ERR_UNSUPPORTED, "a grid of %" PRId64 " blocks in %c: 1 to %" PRId64 " are possible", g->grid[i],
                           'x' + i, spec->max_grid[i]);
        if (g->block[i] < 1 || g->block[i] > spec->max_block[i])
            return err_set(err, ERR_UNSUPPORTED, "a block of %" PRId64 " threads in %c: 1 to %d are possible", g->block[i], 'x' + i,
                           spec->max_block[i]);
        threads *= g->block[i]; /* each is at most max_threads so far, and an int */
        if (threads > spec->max_threads)
            return err_set(err, ERR_UNSUPPORTED,
                           "a block of %" PRId64 " x %" PRId64 " x %" PRId64 " threads: at most %d are possible", g->block[0],
                           g->block[1], g->block[2], spec->max_threads);
    }
    if (geometry_special(g) && spec->unordered)
        return err_set(err, ERR_UNSUPPORTED, "%s launches no clusters, and nothing cooperative or dependent", spec->backend);
    if (g->shared >= 0 && g->shared <= dynamic_shared)
        return 0;
    return err_set(err, ERR_INVALID, "%" PRId64 " bytes of dynamic shared memory: the kernel was made ready for %" PRId64,
                   g->shared, dynamic_shared);
}
