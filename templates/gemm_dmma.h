// For gemm_blocked.cu with MMA_K: a warp multiplies by the tensor cores for f64, MMA_K steps of k at a time. Of the 16 x 8 sums of an
// mma lane 4 g + t has those in row g and g + 8, columns 2 t and 2 t + 1; it gives row g and g + 8 of A and column g of B, in every fourth
// step from t on. Before Hopper an mma has 8 rows and four steps.
#if MMA_K == 8
#define MMA(u, v, row, column, r, s)                                                                                                \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"   \
                 : "+d"(u[0]), "+d"(u[1]), "+d"(v[0]), "+d"(v[1])                                                                   \
                 : "d"(row[0][r]), "d"(row[0][r + 1]), "d"(row[1][r]), "d"(row[1][r + 1]), "d"(column[0][s]), "d"(column[1][s]))
#elif NUMBERS_SM(900)
#define MMA(u, v, row, column, r, s)                                                                                                \
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"              \
                 : "+d"(u[0]), "+d"(u[1]), "+d"(v[0]), "+d"(v[1])                                                                   \
                 : "d"(row[0][r]), "d"(row[0][r + 1]), "d"(column[0][s]))
#else
#define MMA(u, v, row, column, r, s)                                                                                                \
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%4}, {%6}, {%0, %1};"                                   \
                 "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%2, %3}, {%5}, {%6}, {%2, %3};"                                   \
                 : "+d"(u[0]), "+d"(u[1]), "+d"(v[0]), "+d"(v[1])                                                                   \
                 : "d"(row[0][r]), "d"(row[0][r + 1]), "d"(column[0][s]))
#endif

// What a thread needs for MMA_K steps of the inner product, and what it has for the next.
struct frags {
    double row[2][MMA_K / 4][ITEMS_M], column[2][MMA_K / 4][ITEMS_N / 2];
};

// first_a, first_b: where in a stage its first elements of A and of B lie.
DEVICE void load(struct frags *f, const double *stage, int q, int first_a, int first_b)
{
#pragma unroll
    for (int d = 0; d < MMA_K / 4; d++) {
#pragma unroll
        for (int r = 0; r < ITEMS_M; r++)
            f->row[q % 2][d][r] = stage[first_a + PLACE_A(r * 8, q * MMA_K + d * 4)];
#pragma unroll
        for (int s = 0; s < ITEMS_N / 2; s++)
            f->column[q % 2][d][s] = stage[first_b + PLACE_B(q * MMA_K + d * 4, s * 8)];
    }
}

DEVICE void multiply(double sum[ITEMS_M][ITEMS_N], const struct frags *f, int q)
{
#pragma unroll
    for (int r = 0; r < ITEMS_M; r += 2)
#pragma unroll
        for (int p = 0; p < ITEMS_N / 2; p++) {
            int s = r % 4 ? ITEMS_N / 2 - 1 - p : p; // to and fro, so that neighbours share a factor
            double *upper = &sum[r][2 * s], *lower = &sum[r + 1][2 * s];
            MMA(upper, lower, f->row[q % 2], f->column[q % 2], r, s);
        }
}
