/* Launches: what they have, and their bytes. Hashes are taken of these, too: they must stay what they are. */
#include "model/serial.h"

bool launch_repeats(const struct launch *l)
{
    return l->rounds || l->steps || l->together || l->nvalues;
}

bool launch_plain(const struct launch *l)
{
    return !launch_repeats(l) && !l->when && !l->nswaps && !l->nround_swaps && !l->cluster[0] && !l->cluster[1] && !l->cluster[2] &&
           !l->cooperative && !l->dependent && !l->nviews;
}

int view_rank(const struct op *op, const struct view *v)
{
    return v->nextents ?: v->arg < op->nargs ? op->args[v->arg].rank : 1;
}

int view_align(const struct view *v)
{
    if (v->texture)
        return v->mode.array ? 1 : TEXTURE_ALIGN;
    return v->interleave ? 32 : 16;
}

void io_launch(struct serial *s, struct launch *l)
{
    io_str(s, &l->kernel);
    for (int d = 0; d < 3; d++) {
        io_str(s, &l->grid[d]);
        io_str(s, &l->block[d]);
    }
    io_str(s, &l->shared);
    io_ints(s, &l->args, &l->nargs, 2 * MAX_ARGS);
}

static void io_extents(struct serial *s, const char **texts, int *n, int least)
{
    io_count(s, n, least, MAX_VIEW_RANK);
    for (int i = 0; i < *n; i++)
        io_given(s, &texts[i]);
}

static void io_texture(struct serial *s, struct view *m)
{
    struct texture_mode *mode = &m->mode;
    io_str(s, &m->channels);
    io_bool(s, &mode->array);
    io_bool(s, &mode->layered);
    io_bool(s, &mode->linear);
    io_bool(s, &mode->normalized);
    io_bool(s, &mode->as_float);
    io_count(s, &mode->naddress, 0, TEXTURE_RANK);
    for (int i = 0; i < mode->naddress; i++)
        io_enum(s, &mode->address[i], ADDRESS_MIRROR);
}

/* One byte tells a texture from a tensor map, and of that whether it is `nan`. */
static void io_view(struct serial *s, struct view *m)
{
    unsigned kind = m->texture ? 2 : m->nan;
    io_int(s, &m->arg, 0, 2 * MAX_ARGS - 1);
    io_extents(s, m->box, &m->rank, 0);
    io_extents(s, m->extent, &m->nextents, 0);
    io_extents(s, m->stride, &m->nstrides, 0);
    io_extents(s, m->step, &m->nsteps, 0);
    io_str(s, &m->swizzle);
    io_str(s, &m->interleave);
    io_str(s, &m->l2);
    io_enum(s, &kind, 2);
    if (s->in) {
        m->nan = kind == 1;
        m->texture = kind == 2;
    }
    if (m->texture)
        io_texture(s, m);
}

/* What most launches have nothing of. */
void io_launch_more(struct serial *s, struct launch *l)
{
    io_str(s, &l->when);
    io_str(s, &l->rounds);
    io_str(s, &l->steps);
    io_bool(s, &l->together);
    io_ints(s, &l->swaps, &l->nswaps, 2 * MAX_ARGS);
    io_ints(s, &l->round_swaps, &l->nround_swaps, 2 * MAX_ARGS);
    io_array(s, &l->values, &l->nvalues, 0, MAX_LAUNCH_VALUES, sizeof *l->values);
    for (int i = 0; i < l->nvalues && !serial_failed(s); i++) {
        io_given(s, &l->values[i].name);
        io_given(s, &l->values[i].type);
        io_given(s, &l->values[i].value);
    }
    for (int d = 0; d < 3; d++)
        io_str(s, &l->cluster[d]);
    io_bool(s, &l->cooperative);
    io_bool(s, &l->dependent);
    io_array(s, &l->views, &l->nviews, 0, MAX_VIEWS, sizeof *l->views);
    for (int i = 0; i < l->nviews && !serial_failed(s); i++)
        io_view(s, &l->views[i]);
}

void io_whole_launch(struct serial *s, struct launch *l)
{
    io_launch(s, l);
    if (s->form >= '4')
        io_launch_more(s, l);
}
