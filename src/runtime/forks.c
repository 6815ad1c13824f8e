/* Forks. If a child were made while another thread holds one of SQLite's own locks, the child would wait for it forever. So a fork waits
 * until no other thread is within SQLite through this library. */
#include "runtime/runtime.h"

atomic_int fork_generation;

/* Held during a fork. It is not a rwlock: a child can neither release nor initialize a rwlock that was held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left = PTHREAD_COND_INITIALIZER, forked = PTHREAD_COND_INITIALIZER;
static int within, forking;     /* threads */
static _Thread_local int depth; /* of this thread's store_enter */

int check_forks(int generation)
{
    if (generation == atomic_load(&fork_generation))
        return 0;
    return refuse(CUTUNE_ERR_INVALID, "opened before a fork: open the database again in the child; a device that the parent has used "
                                      "can be used only by a new process, not by a fork");
}

void store_enter(void)
{
    if (depth++)
        return;
    pthread_mutex_lock(&lock);
    while (forking) /* threads that come after a fork do not delay it */
        pthread_cond_wait(&forked, &lock);
    within++;
    pthread_mutex_unlock(&lock);
}

void store_leave(void)
{
    if (--depth)
        return;
    pthread_mutex_lock(&lock);
    within--;
    pthread_cond_broadcast(&left);
    pthread_mutex_unlock(&lock);
}

/* A thread that forks in a callback of this library is itself within. */
static int own(void)
{
    return depth > 0;
}

static void before(void)
{
    pthread_mutex_lock(&lock);
    forking++;
    while (within > own())
        pthread_cond_wait(&left, &lock);
}

static void in_parent(void)
{
    forking--;
    pthread_cond_broadcast(&forked);
    pthread_mutex_unlock(&lock);
}

/* Waiting threads do not exist in the child. */
static void in_child(void)
{
    forking = 0;
    pthread_cond_init(&left, NULL);
    pthread_cond_init(&forked, NULL);
    atomic_fetch_add(&fork_generation, 1);
    pthread_mutex_unlock(&lock);
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
