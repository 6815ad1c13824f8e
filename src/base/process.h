/* What a child process does about memory, so that one that eats without bound ends itself and not the coordinator. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdint.h>

/* From now on the kernel, out of memory, takes this process before others. */
void process_expendable(void);

/* From now on it gets so many bytes more than it has at most; then its allocations fail. Not for a process that loads a device's
 * driver: those reserve far more than they use. */
void process_bound_growth(int64_t bytes);

#endif
