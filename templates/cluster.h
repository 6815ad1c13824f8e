// Where an address in this block's shared memory is in that of another block of the cluster.
DEVICE uint32 in_block(uint32 at, uint32 block)
{
    uint32 there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(block));
    return there;
}
