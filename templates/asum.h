// For sums.h: the sum of |x[i]|.
#define SUM_INPUTS          1
#define SUM_TERM(a, vx, vy) ((a) + fabs(vx))
#define SUM_RESULT(a)       (a)
