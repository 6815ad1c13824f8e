/* How many files the coordinator and its workers may have open. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "tune/run.h"

enum {
    OWN = 29,     /* the database, the loop, the strategy, and what starting a worker takes for a moment */
    A_WORKER = 3, /* its two streams, and one to spare */
    USUAL = 1024, /* workers inherit the limit, and a device's driver opens dozens */
};

int files_allow(int jobs, struct err *err)
{
    struct rlimit limit;
    const rlim_t need = OWN + A_WORKER * (rlim_t)jobs, wish = need > USUAL ? need : USUAL;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return err_set(err, ERR_IO, "the limit of open files: %s", strerror(errno));
    if (limit.rlim_cur < wish) {
        limit.rlim_cur = limit.rlim_max < wish ? limit.rlim_max : wish;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= need)
        return 0;
    return err_set(err, ERR_IO, "`ulimit -n` allows %d open files, and %d are needed for %d compile worker%s: raise it%s",
                   (int)limit.rlim_cur, (int)need, jobs, jobs == 1 ? "" : "s", jobs == 1 ? "" : ", or ask for fewer with --jobs");
}
