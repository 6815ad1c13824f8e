/* Forks. SQLite's locks are its own, and a child made while another thread held one would wait for it for ever: a fork waits until no
 * other thread is within SQLite by way of this library. */
#include "runtime/runtime.h"

atomic_int fork_generation;

/* Held through a fork. Not a rwlock: what a child inherits of one that is held can be neither released nor made anew. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left = PTHREAD_COND_INITIALIZER, forked = PTHREAD_COND_INITIALIZER;
static int within, forking;     /* threads */
static _Thread_local int depth; /* of this thread's store_enter */

int check_forks(int generation)
{
    if (generation == atomic_load(&fork_generation))
        return 0;
    return refuse(CUTUNE_ERR_INVALID, "opened before a fork: open the database again in the child");
}

void store_enter(void)
{
    if (depth++)
        return;
    pthread_mutex_lock(&lock);
    while (forking) /* a fork is not kept waiting by those who come after it */
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

/* Who forks in a callback of this library's is within itself. */
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

/* Whoever waited is not there. */
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
