/* The protocol between the coordinator and its workers: messages, each a frame (child/child.h) over one stream socket a worker.
 *
 * Each side checks all it reads: a worker that speaks garbage is a dead worker. WIRE_VERSION is raised
 * when anything here changes: both ends are the same binary, unless someone mixes them. */
#ifndef WORKER_WIRE_H
#define WORKER_WIRE_H

#include "child/child.h"
#include "measure/bench.h"

enum { WIRE_VERSION = 16, MAX_PLAYERS = 4 + MAX_PEERS };

/* Each kind with the members of struct message that it uses. */
enum frame_kind {
    /* both: worker -> coordinator */
    F_HELLO = 1, /* number: WIRE_VERSION */
    F_FAILED,    /* text: set-up failed, or this worker cannot go on; it exits */
    F_ALIVE,     /* number: 1 if a candidate's first launch is next. A deadline begins anew. A compile worker's first: its compiler is open */
    /* both: coordinator -> worker */
    F_SETUP, /* a struct task instead of a message. To one that has a task already: another, on the same device, as if it had just started */
    /* compile worker */
    F_RENDER,     /* -> the first candidate's configuration, number: of enum compile_how */
    F_RENDERED,   /* <- outcome, text: the reason, key, code */
    F_COMPILE,    /* -> number: of enum compile_how, as it was asked to render. The configuration last rendered is compiled */
    F_COMPILED,   /* <- outcome, text: the reason, ms, source, binary, portable, entries, compiler; number: 1 if it is from the cache */
    F_CONTROL,    /* -> compile the reference, past every cache */
    F_CONTROLLED, /* <- text: "", or why the reference does not compile here */
    /* measuring worker */
    F_WAITING,  /* <- text: the lock's file, which another has had for a while */
    F_UNLOCKED, /* <- text: why the device's lock cannot be had; it measures without */
    F_READY,    /* <- facts */
    F_RUN,      /* -> candidates, number: of rounds in which they are played off; 0: verify and time the first, with `behind`; RUN_GROWN:
                   run them for larger problems */
    F_COMPARE,  /* -> candidates, number: of rounds, at most: bench_compare */
    F_PLAYING,  /* <- number: the player it goes on with, -1: none; text: the problem, if it is a larger one. What happens next is that
                   one's doing; a deadline begins anew */
    F_RESULT,   /* <- results, standing. The times of a play-off are worth nothing unless it is STANDS */
};

enum { RUN_GROWN = -1 };

enum compile_how {
    TRY_LAUNCH = 1,     /* a launch */
    PAST_CACHE = 2 /* compiled, whatever the cache has */
};

/* What a result is worth. */
enum standing {
    STANDS,     /* it is a verdict */
    DOUBTFUL,   /* this worker ends with it: a verdict only if it comes out so in another worker, too */
    NO_VERDICT, /* the device lacked memory that others hold: nothing is known */
};

struct bytes {
    const void *at; /* of a message that was read: within its frame */
    size_t n;
};

/* One form for all kinds: what a kind does not need is zero, and costs a few bytes. */
struct message {
    enum frame_kind kind;
    int number;
    enum outcome outcome;
    enum standing standing;
    char text[1024], key[HASH_HEX], compiler[COMPILER_NAME];
    char code[HASH_HEX]; /* of what compiling it would give: cache_key. "": that is not known */
    double ms;
    struct limits behind;
    struct bench_facts facts;
    struct bytes source, binary, portable, entries;
    int ncandidates, nresults;
    struct bench_candidate candidates[MAX_PLAYERS];
    struct result results[MAX_PLAYERS];
};

/* Appends the message as a frame. op: whose configurations it holds. */
void message_put(struct buf *out, const struct op *op, const struct message *m);
/* Reads a frame. ERR_CORRUPT if message_put would not have written it so; *m is then empty. */
int message_get(enum frame_kind kind, struct cursor *body, const struct op *op, struct message *m, struct err *err);
void message_free(struct message *m); /* the results */

#endif
