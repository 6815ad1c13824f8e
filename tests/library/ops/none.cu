/* Never run. */
KERNEL void odd(GLOBAL T *klass, int64 n)
{
}
