/* Memory: every allocation of base, expr, model, store and runtime passes here, so that tests can fail each in turn. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

void *mem_alloc(size_t bytes);                     /* null when there is none; 0 bytes give a pointer */
void *mem_zalloc(size_t bytes);                    /* the same, cleared */
void *mem_array(size_t n, size_t bytes);           /* n * bytes cleared; null where the product overflows */
void *mem_resize(void *p, size_t n, size_t bytes); /* null where it overflows or fails: p is then untouched */
bool mem_grow(void **p, int n, size_t bytes);      /* room for one more behind n; doubled at each power of two; false as above */
void mem_free(void *p);                            /* null is fine */
char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t n);

/* Another's functions in place of malloc's from now on, while nothing is allocated; nulls: malloc's again. */
void mem_use(void *(*alloc)(void *arg, size_t bytes), void *(*resize)(void *arg, void *p, size_t bytes),
             void (*release)(void *arg, void *p), void *arg);

/* For tests: the nth allocation from now on fails, and every later one; negative: none. Not for use with threads. */
void mem_fail_at(long nth);

/* An arena: things that live and die together. Not for use from two threads at once. */
struct arena;
struct arena *arena_new(void);
void arena_free(struct arena *a);                 /* null is fine */
void *arena_alloc(struct arena *a, size_t bytes); /* cleared, aligned for any type; null when there is none */
void *arena_array(struct arena *a, size_t n, size_t bytes);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);

#endif
