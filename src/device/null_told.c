/* What the pretend device is told to do.
 *
 * Lines of the source make it misbehave: `//null: WORD`, with these words.
 *   compile-error   the compiler refuses the source        time=NS       the time of a launch of it
 *   crash-compile   the compiler's process dies            delay=MS      a wait for it sleeps as long
 *   hang-compile    the compiler never returns             launch-error  its launch is refused
 *   hoard-compile   the compiler dies because it cannot get 64 GB, or hangs if it can
 *   large-compile   the compiler finds that it takes more than the device has
 *   crash           a wait for it takes the process down   hang          a wait for it never returns
 *   sticky          a wait for it, and every call after, fails as on a lost context
 *   after=N         what its launches do amiss begins with the N+1st in a process; all sources that say so are counted together
 *   if=PATH         all but time and delay only while there is such a file: a machine that breaks, and is mended
 *   wrong           until another launch, the kernels check_equal, check_close and digest write 1 to the uint64 that their first
 *                   argument points to */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/util.h"
#include "device/null_part.h"

/* What follows `//null: WORD` at the start of a line; null if no line says it. */
static const char *directive(const char *source, const char *word)
{
    static const char mark[] = "//null: ";
    for (const char *line = source; line; line = strchr(line, '\n')) {
        line += strspn(line, "\n \t");
        const char *at = line + sizeof mark - 1;
        if (strncmp(line, mark, sizeof mark - 1) != 0 || strncmp(at, word, strlen(word)) != 0)
            continue;
        const char *rest = at + strlen(word);
        if (*rest == 0 || *rest == '\n' || *rest == '\r' || *rest == ' ' || rest[-1] == '=')
            return rest;
    }
    return NULL;
}

/* The value of `//null: WORD=VALUE`; -1 if there is none. */
static int64_t value_of(const char *source, const char *word)
{
    const char *text = directive(source, word);
    return text ? strtoll(text, NULL, 10) : -1;
}

/* Whether what the source says holds now. */
static bool applies(const char *source)
{
    const char *path = directive(source, "if=");
    char name[256];
    if (!path)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(path, "\r\n"), path);
    return access(name, F_OK) == 0;
}

bool null_says(const char *source, const char *word)
{
    return directive(source, word) && applies(source);
}

/* 1e3 to 1e6 ns, the same for the same source, kernel and geometry. */
static double time_of(const char *source, const char *name, const struct guest_launch *l)
{
    int64_t told = value_of(source, "time=");
    if (told >= 0)
        return (double)told;
    char hash[HASH_HEX];
    hash_hex(source, strlen(source), hash);
    hash[16] = 0;
    uint64_t h = strtoull(hash, NULL, 16);
    for (const char *c = name; *c; c++)
        h = rand_at(h, (unsigned char)*c);
    for (int i = 0; i < 3; i++)
        h = rand_at(rand_at(h, l->grid[i]), l->block[i]);
    return 1e3 + (double)(rand_at(h, l->shared) % 999001);
}

int null_told_launch(struct null_told *t, const char *source, const char *name, const struct guest_launch *l, void *first,
                     struct err *err)
{
    static const uint64_t one = 1;
    int rc = null_lost(t, err);
    if (rc)
        return rc;
    int64_t after = value_of(source, "after="), delay = value_of(source, "delay=");
    bool due = after < 0 || t->counted++ >= after, act = due && applies(source);
    if (act && directive(source, "launch-error"))
        return err_set(err, ERR_UNSUPPORTED, "NULL_ERROR_LAUNCH_OUT_OF_RESOURCES (the source asks for it)");
    bool counts = !strcmp(name, "check_equal") || !strcmp(name, "check_close") || !strcmp(name, "digest");
    if (!strstr(source, "check_equal")) /* no service kernel */
        t->wrong = act && directive(source, "wrong");
    else if (counts && t->wrong && first)
        memcpy(first, &one, sizeof one);
    t->hang |= act && directive(source, "hang");
    t->crash |= act && directive(source, "crash");
    t->sticky |= act && directive(source, "sticky");
    if (due && delay > t->delay_ms)
        t->delay_ms = delay;
    t->clock_ns += time_of(source, name, l);
    return 0;
}

int null_told_sync(struct null_told *t, struct err *err)
{
    struct timespec delay = { .tv_sec = t->delay_ms / 1000, .tv_nsec = t->delay_ms % 1000 * 1000000 };
    t->delay_ms = 0;
    nanosleep(&delay, NULL);
    while (t->hang)
        pause();
    if (t->crash)
        abort();
    t->lost |= t->sticky;
    return null_lost(t, err);
}

int null_lost(const struct null_told *t, struct err *err)
{
    return t->lost ? err_set(err, ERR_DEVICE, "NULL_ERROR_LAUNCH_FAILED (the context is lost)") : 0;
}
