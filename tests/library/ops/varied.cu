//null: time=$(1000 + (TILE or 1) * 7919 % 61 * 100)
KERNEL void first(void)
{
}
KERNEL void second(void)
{
}
KERNEL void varied_ref(void)
{
}
KERNEL void plain(void)
{
}
