// For sums.h: the root of the sum of x[i] * x[i].
#define SUM_INPUTS          1
#define SUM_TERM(a, vx, vy) ((a) + (vx) * (vx))
#define SUM_RESULT(a)       sqrt(a)
