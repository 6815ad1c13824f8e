/* The protocol between the coordinator and its workers: frames (child/channel.h) over one stream socket each.
 *
 * Each side checks all it reads: a worker that speaks garbage is a dead worker. WIRE_VERSION is raised
 * when anything here changes: both ends are the same binary, unless someone mixes them. */
#ifndef WORKER_WIRE_H
#define WORKER_WIRE_H

#include "child/channel.h"
#include "model/config.h"
#include "model/devspec.h"
#include "model/problem.h"
#include "model/record.h"

enum { WIRE_VERSION = 6 };

enum frame_kind {
    /* both: worker -> coordinator */
    F_HELLO = 1, /* u32 WIRE_VERSION */
    F_FAILED,    /* text: set-up failed, or this worker cannot go on; it exits */
    F_ALIVE,     /* nothing: a deadline begins anew. A compile worker's first: its compiler is open */
    /* both: coordinator -> worker */
    F_SETUP, /* struct task */
    /* compile worker */
    F_RENDER,     /* -> configuration */
    F_RENDERED,   /* <- u8 outcome, text reason, text key */
    F_COMPILE,    /* -> u8 whether to try a launch: the configuration last rendered */
    F_COMPILED,   /* <- u8 outcome, text reason, f64 ms, bytes source, bytes binary, bytes portable, text compiler */
    F_CONTROL,    /* -> nothing: compile the reference, past every cache */
    F_CONTROLLED, /* <- text: "", or why the reference does not compile here */
    /* measuring worker */
    F_WAITING,  /* <- text: the lock's file, which another has had for a while */
    F_UNLOCKED, /* <- text: why the device's lock cannot be had; it measures without */
    F_READY,    /* <- f64 reference_ns, copy_ns */
    F_RUN,      /* -> f64 cut_ns, configuration, bytes binary */
    F_RESULT,   /* <- result, u8 enum standing */
    F_PLAYOFF,  /* -> u32 rounds, u32 n, n times (configuration, bytes binary) */
    F_PLAYING,  /* <- u32 which player it goes on with: what happens next is that one's doing; a deadline begins anew */
    F_PLAYED,   /* <- u32 n, n results, u8 enum standing: unless it is STANDS, the times are worth nothing */
};

/* What a result is worth. */
enum standing {
    STANDS,     /* it is a verdict */
    DOUBTFUL,   /* this worker ends with it: a verdict only if it comes out so in another worker, too */
    NO_VERDICT, /* the device lacked memory that others hold: nothing is known */
};

/* What all workers of a run are told. */
struct task {
    const char *home;
    struct op *op;
    struct problem problem;
    int row;
    struct devspec dev;
    bool warm;
    uint64_t fresh; /* as in struct bench_setup */
};

void task_put(struct buf *out, const struct task *t);
/* What it points to is owned by the caller: op_free, mem_free(home). */
int task_get(struct cursor *in, struct task *t, struct err *err);

/* A text of a body, as a C string; false if there is none, or no room for it. */
bool frame_text(struct cursor *body, char *out, size_t room);

#endif
