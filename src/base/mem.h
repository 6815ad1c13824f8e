/* Memory: base, expr, model, store and runtime allocate only through these functions, so that tests can make each allocation fail in
 * turn. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

void *mem_alloc(size_t bytes);                     /* null if there is none; 0 bytes give a pointer, too */
void *mem_zalloc(size_t bytes);                    /* the same, cleared */
void *mem_array(size_t n, size_t bytes);           /* n * bytes, cleared; null if the product overflows */
void *mem_resize(void *p, size_t n, size_t bytes); /* null if that overflows or fails: p is then unchanged */
bool mem_grow(void **p, int n, size_t bytes); /* makes room for one more than n: doubles at each power of two. False as above */
void mem_free(void *p);                       /* null is fine */
char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t n);

/* From now on these functions are called in place of malloc's; nulls: malloc's again. Call it only while nothing is allocated. */
void mem_use(void *(*alloc)(void *arg, size_t bytes), void *(*resize)(void *arg, void *p, size_t bytes),
             void (*release)(void *arg, void *p), void *arg);

/* For tests: the nth allocation from now on fails, and all later ones; negative: none. Not for use with threads. */
void mem_fail_at(long nth);

/* An arena: things that live and die together. Not for use from two threads at once. */
struct arena;
struct arena *arena_new(void);
void *arena_with(size_t bytes, struct arena **a); /* a new one, and on it a cleared struct of its owner's; null if there is none */
void arena_free(struct arena *a);                 /* null is fine */
void *arena_alloc(struct arena *a, size_t bytes); /* cleared, aligned for any type; null if there is none */
void *arena_array(struct arena *a, size_t n, size_t bytes);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);

#endif
