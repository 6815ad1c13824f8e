#if __CUDA_ARCH__ >= 900
struct __align__(64) tensor_map {
    char bytes[128];
};

KERNEL void tilecopy_tensor(const __grid_constant__ tensor_map out, const __grid_constant__ tensor_map x)
{
    __shared__ __align__(1024) T_bits tile[HIGH * WIDE];
    __shared__ __align__(8) unsigned long long full;
    unsigned bar = (unsigned)__cvta_generic_to_shared(&full), at = (unsigned)__cvta_generic_to_shared(tile);
    int col = blockIdx.x * WIDE, row = blockIdx.y * HIGH;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"((unsigned)sizeof tile) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at),
                     "l"(&x), "r"(col), "r"(row), "r"(bar)
                     : "memory");
        asm volatile("{\n.reg .pred p;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra WAIT;\n}" ::"r"(bar)
                     : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&out), "r"(col), "r"(row),
                     "r"(at)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}
#else
KERNEL void tilecopy_tensor() {}
#endif
