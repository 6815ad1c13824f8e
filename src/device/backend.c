#include "device/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool library_find(void *library, const char *name, void *function)
{
    void *p = dlsym(library, name);
    memcpy(function, &p, sizeof p);
    return p;
}

/* In the order of preference; the last place is backend_add's. */
static const struct backend *backends[] = { &cuda_backend, &opencl_backend, NULL };
enum { BACKENDS = sizeof backends / sizeof *backends };

void backend_add(const struct backend *b)
{
    backends[BACKENDS - 1] = b;
}

const struct backend *backend_at(int i)
{
    return i >= 0 && i < BACKENDS ? backends[i] : NULL;
}

const struct backend *backend_real(int i)
{
    const struct backend *b = backend_at(i);
    return b && !b->pretend ? b : NULL;
}

const struct backend *backend_find(const char *name)
{
    const struct backend *b;
    for (int i = 0; (b = backend_at(i)); i++)
        if (!strcmp(b->name, name))
            break;
    return b;
}

/* Looks through one backend's devices. What is there, or why nothing is, goes to `there`. A GPU comes before a CPU. */
static bool search(const struct backend *b, int index, struct devspec *found, struct buf *there)
{
    struct devspec list[MAX_DEVICES];
    struct err why = { 0 };
    bool ok = false;
    int n = b->list(list, MAX_DEVICES, &why);
    if (n <= 0) /* a backend that fails does not stand in the way of the next */
        buf_fmt(there, "%s%s: %s", there->len ? "; " : "", b->name, why.msg);
    for (int i = 0; i < n && i < MAX_DEVICES; i++) {
        buf_fmt(there, "%s%s:%d is %s", there->len ? "; " : "", b->name, list[i].index, list[i].name);
        if ((index >= 0 && index != list[i].index) || (ok && (!found->shares_cores || list[i].shares_cores)))
            continue;
        *found = list[i];
        ok = true;
    }
    return ok;
}

int device_find(const char *word, struct devspec *out, struct err *err)
{
    char name[16] = "", digits[5] = "-1"; /* any */
    int end = 0;
    if (word)
        sscanf(word, "%15[^:]%n:%4[0-9]%n", name, &end, digits, &end);
    const struct backend *asked = backend_find(name), *b;
    if (word && (!asked || word[end]))
        return err_set(err, ERR_INVALID,
                       "device '%.80s': write cuda, cuda:0, opencl, opencl:1 and so on; `cutune devices` lists them", word);
    struct buf there = { 0 };
    bool ok = false;
    for (int i = 0; (b = backend_at(i)) && !ok; i++)
        if (word ? b == asked : !b->pretend)
            ok = search(b, atoi(digits), out, &there);
    int rc = ok ? 0 : err_set(err, ERR_NOTFOUND, "no device%s%s (%s)", word ? " " : "", word ? word : "", buf_text(&there));
    buf_free(&there);
    return rc;
}

int compile_option(const struct backend_compiling *c, const char *option, struct err *err)
{
    static const char harmless[] = WORD_LETTERS "+-.,:=";
    for (const char *word = c->options ?: ""; *word; word += strspn(word, " ")) {
        size_t n = strcspn(word, " "), same = n;
        bool value = word[n - 1] == '=' || word[n - 1] == '*';
        same -= word[n - 1] == '*';
        if (!strncmp(option, word, same) && (value ? option[same] && !option[same + strspn(option + same, harmless)] : !option[n]))
            return 0;
        word += n;
    }
    for (const struct option_hint *hint = c->hints; hint && hint->begin; hint++)
        if (!strncmp(option, hint->begin, strlen(hint->begin)))
            return err_set(err, ERR_INVALID, "'%.120s' is no option of the compiler of %s: %s", option, c->language, hint->right);
    return err_set(err, ERR_INVALID,
                   "'%.120s' is none of the options that a script may give to the compiler of %s; none of them names a file",
                   option, c->language);
}

void compile_log_line(const struct buf *log, char out[256])
{
    const char *text = buf_text(log), *at = strstr(text, "error");
    while (at && at > text && at[-1] != '\n')
        at--;
    if (!at)
        at = text;
    size_t n = strcspn(at, "\n");
    snprintf(out, 256, "%.*s", (int)(n < 255 ? n : 255), at);
}

int compile_once(const struct devspec *spec, const struct compile_job *job, struct buf *binary, struct err *err)
{
    const struct backend_compiling *with = backend_find(spec->backend)->compiling;
    struct compiler *c = NULL;
    struct buf log = { 0 };
    char line[256];
    int rc = with->open(spec, &c, err) ?: with->compile(c, job, binary, NULL, &log, err);
    if (rc == ERR_INVALID && log.len) {
        compile_log_line(&log, line);
        err_set(err, rc, "%s", line);
    }
    with->close(c);
    buf_free(&log);
    return rc;
}
