/* ask DATABASE DEVICES QUESTIONS: prints everything that look-ups answer, line by line. Built twice: with libcutune, and with an exported
 * file, which ignores the database. */
#include "cutune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZES = 16, MAX_DEVICES = 64 };

static void tell_params(const cutune_kernel *k, int launch)
{
    for (int i = 0; i < cutune_kernel_params(k, launch); i++) {
        cutune_param p = { .size = sizeof p };
        printf(" %d:", cutune_kernel_param(k, launch, i, &p));
        printf("%d,%d,%lld,%d,", p.kind, p.index, (long long)p.offset, p.bytes);
        for (int b = 0; b < p.bytes && p.kind == CUTUNE_PARAM_VALUE; b++)
            printf("%02x", p.value[b]);
    }
}

static void tell(const cutune_kernel *k)
{
    printf("  %s %s: %s; match %d, %a ns, %zu bytes of workspace\n", cutune_kernel_variant(k), cutune_kernel_config(k),
           cutune_kernel_why(k), cutune_kernel_match(k), cutune_kernel_time_ns(k), cutune_kernel_workspace(k));
    for (int i = 0; i < cutune_kernel_launches(k); i++) {
        cutune_geometry g = { .size = sizeof g };
        printf("  launch %d:", cutune_kernel_geometry(k, i, &g));
        printf(" %s %lld,%lld,%lld %lld,%lld,%lld %lld:", g.entry, (long long)g.grid[0], (long long)g.grid[1], (long long)g.grid[2],
               (long long)g.block[0], (long long)g.block[1], (long long)g.block[2], (long long)g.shared);
        tell_params(k, i);
        printf("\n");
    }
    for (int i = 0; i < cutune_kernel_clears(k); i++) {
        cutune_clear c = { .size = sizeof c };
        printf("  clear %d:", cutune_kernel_clear(k, i, &c));
        printf(" %d %d %lld %lld\n", c.kind, c.index, (long long)c.offset, (long long)c.bytes);
    }
    if (cutune_kernel_fallback(k)) {
        printf("  else\n");
        tell(cutune_kernel_fallback(k));
    }
}

static int tell_record(void *arg, const cutune_record *r)
{
    ++*(int *)arg;
    printf("%s %s %s %s %s %s %s %s %a %d\n", r->op, r->types, r->sizes, r->backend, r->device, r->arch, r->variant, r->config,
           r->time_ns, r->stale);
    return 0;
}

/* DEVICE OP TYPES SIZE... */
static void ask(cutune_handle **handles, int n, char *line)
{
    int64_t sizes[MAX_SIZES];
    int nsizes = 0;
    const cutune_kernel *k = NULL;
    line[strcspn(line, "\n")] = 0;
    printf("%s\n", line);
    int device = atoi(strtok(line, " "));
    const char *op = strtok(NULL, " "), *types = strtok(NULL, " ");
    for (const char *size; nsizes < MAX_SIZES && (size = strtok(NULL, " "));)
        sizes[nsizes++] = strtoll(size, NULL, 10);
    int rc = device < n ? cutune_lookup(handles[device], op, types, sizes, nsizes, &k) : 1;
    if (rc)
        printf("  failed: %d\n", rc);
    else
        tell(k);
}

int main(int argc, char **argv)
{
    static cutune_device devices[MAX_DEVICES];
    cutune_handle *handles[MAX_DEVICES];
    cutune_options options = { .size = sizeof options, .tables = "", .cache = "" };
    cutune *c;
    char line[4096];
    int records = 0, changed = -1, rc;
    FILE *f = argc == 4 ? fopen(argv[2], "rb") : NULL;
    int n = f ? (int)fread(devices, sizeof *devices, MAX_DEVICES, f) : 0;
    FILE *questions = argc == 4 ? fopen(argv[3], "r") : NULL;
    if (!f || !questions)
        return fprintf(stderr, "usage: ask DATABASE DEVICES QUESTIONS\n"), 2;
    fclose(f);
    options.path = argv[1];
    options.capture = options.refresh_ms = getenv("CAPTURE") != NULL;
    if (cutune_open_with(&options, &c))
        return fprintf(stderr, "%s\n", cutune_error()), 1;
    for (int i = 0; i < n; i++)
        if (cutune_attach(c, &devices[i], &handles[i]))
            return fprintf(stderr, "%s\n", cutune_error()), 1;
    cutune_device present = { .size = sizeof present };
    rc = cutune_device_find("opencl", &present);
    printf("%s: %d, %s %s\n", cutune_version_text(), rc, present.name, present.arch);
    rc = cutune_each(c, tell_record, &records);
    printf("%d records: %d\n", records, rc);
    while (fgets(line, sizeof line, questions))
        ask(handles, n, line);
    rc = cutune_refresh(c, &changed);
    printf("refreshed: %d, %d changed; flushed: %d\n", rc, changed, cutune_flush(c));
    fclose(questions);
    cutune_close(c);
    return 0;
}
