/* Shared by the fuzz targets. Each target is one file with LLVMFuzzerTestOneInput. Linked with libFuzzer it looks for inputs; linked
 * with replay.c it runs the inputs of its corpus. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/devspec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold of the code under test, whatever the input: abort is what a fuzzer sees. */
#define must(condition)                                                                                                            \
    do {                                                                                                                           \
        if (!(condition)) {                                                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                                         \
            abort();                                                                                                               \
        }                                                                                                                          \
    } while (0)

/* A failure comes with its line of text. */
static inline void must_say(int rc, const struct err *err)
{
    must(rc == 0 || (rc == err->code && *err->msg && !strchr(err->msg, '\n')));
}

/* The rest of an input. */
struct input {
    const uint8_t *at;
    size_t left;
};

static inline uint8_t input_byte(struct input *in)
{
    if (!in->left)
        return 0;
    in->left--;
    return *in->at++;
}

static inline uint64_t input_number(struct input *in, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++)
        v |= (uint64_t)input_byte(in) << 8 * i;
    return v;
}

/* A C string on the heap, of no byte more than it needs, so that reading past it shows. Ends at the first zero byte. */
static inline char *input_text(struct input *in)
{
    const uint8_t *zero = in->left ? memchr(in->at, 0, in->left) : NULL;
    size_t n = zero ? (size_t)(zero - in->at) : in->left;
    char *text = malloc(n + 1);
    must(text);
    if (n)
        memcpy(text, in->at, n);
    text[n] = 0;
    in->at += n;
    in->left -= n;
    input_byte(in);
    return text;
}

/* All of an input as edits to bytes that are good: a format that changes leaves the corpus worth something. An edit is a kind, a
 * place (3 bytes), a count, and bytes. What comes back is a copy; its exact size is allocated. */
static inline char *input_edits(struct input *in, const void *good, size_t size, size_t *edited)
{
    enum { MAX_GROWTH = 4096 };
    char *copy = malloc(size + MAX_GROWTH);
    must(copy);
    memcpy(copy, good, size);
    *edited = size;
    while (in->left >= 6) {
        int kind = input_byte(in) % 3;
        size_t at = input_number(in, 3) % (*edited + 1), n = input_byte(in) % 64u;
        if (kind == 0) { /* cut bytes out */
            n = n < *edited - at ? n : *edited - at;
            memmove(copy + at, copy + at + n, *edited - at - n);
            *edited -= n;
            continue;
        }
        n = n < in->left ? n : in->left;
        if (kind == 1 && *edited + n <= size + MAX_GROWTH) { /* put bytes in between */
            memmove(copy + at + n, copy + at, *edited - at);
            *edited += n;
        }
        for (size_t i = 0; i < n; i++) { /* write over what is there */
            char byte = (char)input_byte(in);
            if (at + i < *edited)
                copy[at + i] = byte;
        }
    }
    copy = realloc(copy, *edited ? *edited : 1);
    must(copy);
    return copy;
}

/* A device that kernels may be planned for. */
static inline struct devspec fuzz_device(void)
{
    return (struct devspec){
        .backend = "cuda",
        .name = "NVIDIA H200",
        .arch = "sm_90",
        .multiprocessors = 132,
        .memory = 150754820096,
        .cc = 90,
        .warp = 32,
        .l2 = 60 << 20,
        .max_threads = 1024,
        .max_block = { 1024, 1024, 64 },
        .max_grid = { 2147483647, 65535, 65535 },
        .max_shared = 232448,
        .max_static_shared = 49152,
        .max_alloc = 150754820096,
        .fp64 = true,
    };
}

#endif
