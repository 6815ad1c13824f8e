/* Code on its way to the device: a binary for its architecture, else PTX, which CUDA's driver compiles, else OpenCL's source, which
 * its driver compiles. Nothing is compiled here and nothing is kept. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "device/device.h"
#include "export/embedded/embedded.h"

int code_get(cutune_handle *h, const struct tuned *t, struct code **out, struct err *err)
{
    struct code *c = h->codes;
    while (c && (c->source != t->source || c->portable != t->portable || c->binary != t->binary))
        c = c->next;
    if (!c) { /* equal code lies in the tables once */
        c = mem_zalloc(sizeof *c);
        if (!c)
            return err_nomem(err);
        c->source = (char *)t->source;
        c->portable = (char *)t->portable;
        c->binary = (void *)t->binary;
        c->binary_bytes = t->binary_bytes;
        snprintf(c->format, sizeof c->format, "%s", t->format ? t->format : "");
        snprintf(c->arch, sizeof c->arch, "%s", t->arch ? t->arch : "");
        c->next = h->codes;
        h->codes = c;
    }
    *out = c;
    return 0;
}

void code_free(struct code *c)
{
    mem_free(c);
}

int code_load(cutune_handle *h, struct code *c, struct err *err)
{
    const char *format = h->backend->format;
    struct err why = { 0 };
    if (c->loaded)
        return 0;
    if (c->binary && !strcmp(c->format, format) && !strcmp(c->arch, h->dev.arch)) {
        int rc = h->backend->load(h->guest, c->binary, c->binary_bytes, format, &c->loaded, &why);
        if (!rc || rc == ERR_NOMEM || rc == ERR_DEVICE)
            return rc ? err_set(err, rc, "%s", why.msg) : 0;
        say(h->owner, "an exported binary is refused: %s", why.msg);
    }
    if (c->portable)
        return h->backend->load(h->guest, c->portable, strlen(c->portable) + 1, h->backend->portable, &c->loaded, err);
    if (c->source)
        return h->backend->load(h->guest, c->source, strlen(c->source), format, &c->loaded, err);
    return err_set(err, ERR_UNSUPPORTED, "its code was exported for %s only, not for %s%s%s", c->arch, h->dev.arch,
                   why.msg[0] ? "; " : "", why.msg);
}
