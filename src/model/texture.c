/* Textures: what a script may say of one, and what of its numbers every device asks. */
#include "model/plan_parts.h"

/* Texels that a device reads along each extent at most, innermost first: today's largest (compute capability 6.0 and later). A device with
 * less refuses to make the texture. */
enum { AT_BUFFER, AT_ROWS, AT_ARRAY_1, AT_ARRAY_2, AT_ARRAY_3, AT_LAYERS, MOST_PITCH = 2097120 /* bytes */ };
static const int64_t most[][TEXTURE_RANK] = {
    [AT_BUFFER] = { 1 << 28, 1, 1 },     [AT_ROWS] = { 131072, 65000, 1 },       [AT_ARRAY_1] = { 131072, 1, 1 },
    [AT_ARRAY_2] = { 131072, 65536, 1 }, [AT_ARRAY_3] = { 16384, 16384, 16384 }, [AT_LAYERS] = { 32768, 32768, 2048 },
};

static bool has_half_format(const struct dtype *t)
{
    return t->bytes == 2 && t->eps == 0x1p-11;
}

/* Why elements of this type cannot be read so; null: they can. */
static const char *unreadable(const struct dtype *t, const struct texture_mode *mode)
{
    const bool whole = t->kind == DT_INT || t->kind == DT_UINT;
    if (whole ? t->bytes > 4 : t->kind != DT_FLOAT || (t->bytes != 4 && !has_half_format(t)))
        return "textures are of i8, i16, i32, u8, u16, u32, f16 or f32";
    if (mode->as_float && (!whole || t->bytes > 2))
        return "read = \"normalized_float\" is for integers of 8 and 16 bits";
    if (mode->linear && whole && !mode->as_float)
        return "filter = \"linear\" of integers needs read = \"normalized_float\", which those of 8 and 16 bits have";
    return NULL;
}

/* If it is so for all of the op's types. */
static int check_types(const struct op *op, const struct view *of, const char *name, const char *type, struct err *err)
{
    const char *why = NULL;
    for (int r = 0; r < op->nrows; r++) {
        why = unreadable(op_arg_dtype(op, type, r), &of->mode);
        if (!why)
            return 0;
    }
    return err_set(err, ERR_INVALID, "texture of %s: %s (its type is %s)", name, why, type);
}

/* Null: it is right. */
static const char *wrong_mode(const struct texture_mode *m, int rank)
{
    bool turns = false;
    for (int i = 0; i < m->naddress; i++)
        turns = turns || m->address[i] == ADDRESS_WRAP || m->address[i] == ADDRESS_MIRROR;
    if (m->layered && rank != 3)
        return "layered: three extents are wanted, the first counts layers";
    if (rank == 3 && !m->array)
        return "three extents are read from an array";
    if (rank == 1 && !m->array && (m->linear || m->normalized || m->naddress))
        return "one extent is read by index (tex1Dfetch), without filter, address and normalized: these need array = true";
    if (m->naddress > 1 && m->naddress != rank)
        return "address: one word, or one for each extent";
    return turns && !m->normalized ? "address: \"wrap\" and \"mirror\" need normalized = true" : NULL;
}

int texture_check(const struct op *op, const struct variant *v, const struct view *of, struct err *err)
{
    const struct arg *a = of->arg < op->nargs ? &op->args[of->arg] : NULL;
    const int work = of->arg - op->nargs;
    if (a ? !arg_is_buffer(a) : work >= v->nworkspaces)
        return err_set(err, ERR_INVALID, "texture: must be of a buffer");
    const int rank = view_rank(op, of);
    const char *name = a ? a->name : v->workspaces[work].name, *wrong = wrong_mode(&of->mode, rank);
    if (rank < 1 || rank > TEXTURE_RANK)
        return err_set(err, ERR_INVALID, "texture of %s: %d extents, and 1 to %d are possible: say `extent`", name, rank,
                       TEXTURE_RANK);
    if (of->nstrides && of->nstrides != rank - 1)
        return err_set(err, ERR_INVALID, "texture of %s: %d strides: all extents but the innermost have one", name, of->nstrides);
    if (of->rank || of->nsteps || of->swizzle || of->interleave || of->l2)
        return err_set(err, ERR_INVALID, "texture of %s: has what only tensor maps have", name);
    if (wrong)
        return err_set(err, ERR_INVALID, "texture of %s: %s", name, wrong);
    if (of->mode.array && (!a || a->kind != ARG_INPUT))
        return err_set(err, ERR_INVALID,
                       "texture of %s: an array is filled once, before the first launch: it can only be of an input", name);
    return check_types(op, of, name, a ? a->type : v->workspaces[work].type, err);
}

static const int64_t *most_of(const struct texture *t)
{
    static const int arrays[] = { AT_ARRAY_1, AT_ARRAY_2, AT_ARRAY_3 };
    return most[t->mode.layered ? AT_LAYERS : t->mode.array ? arrays[t->rank - 1] : t->rank == 1 ? AT_BUFFER : AT_ROWS];
}

static int check_texels(const struct texture *t, struct err *err)
{
    const char *why = unreadable(t->type, &t->mode);
    if (why)
        return err_set(err, ERR_UNSUPPORTED, "%s (its type is %s)", why, t->type->name);
    for (int i = 0; i < t->rank; i++)
        if (t->extent[i] > most_of(t)[i])
            return err_set(err, ERR_UNSUPPORTED, "a texture with an extent[%d] of %lld texels: %lld are possible", t->rank - i,
                           (long long)t->extent[i], (long long)most_of(t)[i]);
    if (t->mode.array || t->rank == 1)
        return 0;
    if (t->pitch % TEXTURE_PITCH || t->pitch > MOST_PITCH)
        return err_set(err, ERR_UNSUPPORTED,
                       "a texture with rows of %lld bytes: multiples of %d up to %d are possible, any with array = true",
                       (long long)t->pitch, TEXTURE_PITCH, MOST_PITCH);
    return 0;
}

/* What the view comes to in texels. */
static int take_texels(const struct tensor *from, int64_t channels, struct texture *t, struct err *err)
{
    if (channels != 1 && channels != 2 && channels != 4)
        return err_set(err, ERR_UNSUPPORTED, "a texture of %lld channels: 1, 2 or 4 are possible", (long long)channels);
    if (from->extent[0] % channels)
        return err_set(err, ERR_UNSUPPORTED, "a texture of %lld channels over rows of %lld elements", (long long)channels,
                       (long long)from->extent[0]);
    const int64_t *extent = t->extent, *stride = from->stride, row = from->extent[0] * from->type->bytes;
    t->channels = (int)channels;
    for (int i = 0; i < TEXTURE_RANK; i++)
        t->extent[i] = i >= t->rank ? 1 : i ? from->extent[i] : from->extent[0] / channels;
    const bool slices = t->rank > 2 && extent[2] > 1;
    t->pitch = extent[1] > 1 ? stride[1]
               : slices      ? stride[2]
               : t->rank > 1 ? (row + TEXTURE_PITCH - 1) / TEXTURE_PITCH * TEXTURE_PITCH
                             : row;
    t->rows = slices ? stride[2] / t->pitch : extent[1];
    if (t->pitch < row || t->rows < extent[1] || (slices && stride[2] % t->pitch))
        return err_set(err, ERR_UNSUPPORTED,
                       "a texture with slices of %lld bytes, rows of %lld and %lld bytes in a row: each is made of whole ones",
                       (long long)(slices ? stride[2] : t->pitch * t->rows), (long long)t->pitch, (long long)row);
    t->bytes = row * extent[1] * extent[2]; /* they lie in the buffer */
    return 0;
}

int plan_texture(const struct plan *p, int launch, int view, const struct val *slots, struct texture *out, struct err *err)
{
    const struct view *of = &p->variant->launches[launch].views[view];
    const struct view_fields *f = &p->launches[launch].views[view];
    struct tensor from = { .rank = view_rank(p->op, of) };
    int64_t channels;
    *out = (struct texture){ .mode = of->mode, .rank = from.rank };
    int rc = plan_view(f, slots, &from, err) ?: field_or(f->channels, 1, 1, slots, &channels, err);
    out->type = from.type;
    for (int i = 0; i < out->rank && of->mode.naddress; i++) /* the script's begin with the outermost */
        out->address[i] = of->mode.address[of->mode.naddress == 1 ? 0 : out->rank - 1 - i];
    return view_refused(f, rc ?: take_texels(&from, channels, out, err) ?: check_texels(out, err), err);
}
