/* What a stream of CUDA's captures, as a graph that can be launched again. */
#ifndef LIBRARY_APP_GRAPH_H
#define LIBRARY_APP_GRAPH_H

#include <dlfcn.h>

#include "app.h"

struct app_graph {
    struct CUgraph_st *graph;
    struct CUgraphExec_st *exec;
};

/* A call of the driver's; `to` is the address of a pointer to a function. */
static inline int app_driver(const char *name, void *to)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *found = library ? dlsym(library, name) : NULL;
    memcpy(to, &found, sizeof found);
    return found ? 0 : (fprintf(stderr, "the driver has no %s\n", name), -1);
}

/* From now on the stream's work goes into a graph, and no thread may do what cannot be captured. */
static inline int app_capture(void *stream)
{
    CUresult (*begin)(CUstream, unsigned);
    return app_driver("cuStreamBeginCapture_v2", &begin) || app_check(begin(stream, 0), "cuStreamBeginCapture");
}

static inline int app_captured(void *stream, struct app_graph *out)
{
    CUresult (*end)(CUstream, struct CUgraph_st **);
    CUresult (*make)(struct CUgraphExec_st **, struct CUgraph_st *, unsigned long long);
    *out = (struct app_graph){ 0 };
    return app_driver("cuStreamEndCapture", &end) || app_driver("cuGraphInstantiateWithFlags", &make) ||
           app_check(end(stream, &out->graph), "cuStreamEndCapture") ||
           app_check(make(&out->exec, out->graph, 0), "cuGraphInstantiate");
}

static inline int app_graph_launch(const struct app_graph *g, void *stream)
{
    CUresult (*launch)(struct CUgraphExec_st *, CUstream);
    return !g->exec || app_driver("cuGraphLaunch", &launch) || app_check(launch(g->exec, stream), "cuGraphLaunch");
}

static inline void app_graph_drop(struct app_graph *g)
{
    CUresult (*drop_exec)(struct CUgraphExec_st *), (*drop)(struct CUgraph_st *);
    if (g->exec && !app_driver("cuGraphExecDestroy", &drop_exec))
        drop_exec(g->exec);
    if (g->graph && !app_driver("cuGraphDestroy", &drop))
        drop(g->graph);
}

#endif
