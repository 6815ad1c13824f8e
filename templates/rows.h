// What the ops over the rows of x (m x n, packed) share: softmax, rmsnorm, layernorm. A row is first taken up into a state and then
// written. The op's own header (softmax.h, say), which includes this one, has
//
//     ROW_VECTORS                     how many vectors of n elements come with x: 0, 1 (w) or 2 (w and b); with them eps
//     struct state                    floats; what is known of some elements of a row
//     state_empty(), state_add(s, v)  of no element; of one more
//     state_close(s)                  once all of a thread's elements are added: what the next two take
//     state_merge(a, b)               of both together
//     row_finish(s, n, eps)           from the state of the whole row: what its values need
//     row_value(v, f, w, b)           an element of the result
//
// and, where BACKEND_CUDA is defined, what rows_team.h says.
#include "numbers.h"

#define ROW_MOST 3.402823466e38f // of float

#if ROW_VECTORS == 2
#define ROW_PARAMS , GLOBAL const T *__restrict__ w, GLOBAL const T *__restrict__ b, float eps
#define ROW_WEIGHTS w
#define ROW_BIASES b
#elif ROW_VECTORS == 1
#define ROW_PARAMS , GLOBAL const T *__restrict__ w, float eps
#define ROW_WEIGHTS w
#define ROW_BIASES w // none
#else
#define ROW_PARAMS
#define ROW_WEIGHTS x // none
#define ROW_BIASES x
#define eps 0.0f
#endif

#define ROW_W(j) (ROW_VECTORS > 0 ? T_get(ROW_WEIGHTS, j) : 1.0f)
#define ROW_B(j) (ROW_VECTORS > 1 ? T_get(ROW_BIASES, j) : 0.0f)

struct finish {
    float shift, factor;
};

#ifdef BACKEND_CUDA
#define row_share(v, count) __fdividef(v, count) // to 2 units in the last place, with no branch

DEVICE float row_exp(float v) // a result below 2^-126 becomes 0
{
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v * 1.442695041f));
    return r;
}
#else
#define row_share(v, count) ((v) / (count))
#define row_exp(v) exp(v)
#endif
