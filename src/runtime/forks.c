/* Forks. SQLite's locks are its own, and a child made while another thread held one would wait for it for ever: a fork waits until no
 * thread is within SQLite by way of this library. */
#include "runtime/runtime.h"

#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP /* a fork is not kept waiting by those who come after it */
#define GATE PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#else
#define GATE PTHREAD_RWLOCK_INITIALIZER
#endif

atomic_int fork_generation;

static pthread_rwlock_t gate = GATE;
static _Thread_local int depth; /* of this thread's store_enter */

int check_forks(int generation)
{
    if (generation == atomic_load(&fork_generation))
        return 0;
    return refuse(CUTUNE_ERR_INVALID, "opened before a fork: open the database again in the child");
}

void store_enter(void)
{
    if (!depth++)
        pthread_rwlock_rdlock(&gate);
}

void store_leave(void)
{
    if (!--depth)
        pthread_rwlock_unlock(&gate);
}

/* Who forks within a callback of this library's holds the gate already. */
static void before(void)
{
    if (!depth)
        pthread_rwlock_wrlock(&gate);
}

static void in_parent(void)
{
    if (!depth)
        pthread_rwlock_unlock(&gate);
}

/* The only thread there is. */
static void in_child(void)
{
    gate = (pthread_rwlock_t)GATE;
    if (depth)
        pthread_rwlock_rdlock(&gate);
    atomic_fetch_add(&fork_generation, 1);
}

static void watch(void)
{
    pthread_atfork(before, in_parent, in_child);
}

void watch_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
}
