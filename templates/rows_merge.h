// The states of a block's threads merged, in every thread: a tree in shared memory.
DEVICE struct state block_merge(SHARED struct state *states, struct state s)
{
    int t = threadIdx.x;
    __syncthreads(); // a row before this one may still be read
    states[t] = s;
    __syncthreads();
    for (int width = BLOCK / 2; width > 0; width /= 2) {
        if (t < width)
            states[t] = state_merge(states[t], states[t + width]);
        __syncthreads();
    }
    return states[0];
}
