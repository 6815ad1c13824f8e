#include "base/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MORE = 500, MOST = 1000 }; /* thousandths of the machine's memory, on top of what a process holds */

/* Where the file cannot be written the kernel goes by size alone, which mostly finds the hungry child too. */
void process_expendable(void)
{
    int score = 0;
    FILE *f = fopen("/proc/self/oom_score_adj", "r+e");
    if (!f)
        return;
    if (fscanf(f, "%d", &score) == 1) {
        rewind(f);
        fprintf(f, "%d", score + MORE < MOST ? score + MORE : MOST);
    }
    fclose(f);
}

/* What RLIMIT_DATA counts; -1 where the kernel does not say. */
static int64_t data_bytes(void)
{
    int64_t pages = -1;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%*s %*s %*s %*s %*s %" SCNd64, &pages) != 1)
        pages = -1;
    if (f)
        fclose(f);
    return pages < 0 ? -1 : pages * sysconf(_SC_PAGESIZE);
}

/* Counted from what it has: a sanitizer's shadow, for one, is terabytes by itself. */
void process_bound_growth(int64_t bytes)
{
    int64_t now = data_bytes();
    struct rlimit limit;
    if (now < 0 || getrlimit(RLIMIT_DATA, &limit))
        return;
    rlim_t most = (rlim_t)(now + bytes);
    if (limit.rlim_cur > most) /* RLIM_INFINITY is the largest number */
        limit.rlim_cur = most;
    setrlimit(RLIMIT_DATA, &limit);
}
