//null: time=1000
KERNEL void formulas(void)
{
}
