// For sums.h: the sum of x[i] * y[i].
#define SUM_INPUTS          2
#define SUM_TERM(a, vx, vy) ((a) + (vx) * (vy))
#define SUM_RESULT(a)       (a)
