#if T_is_float
T add(T a, T b) { return a + b; }
#else
T add(T a, T b) { return (T)((uint)a + (uint)b); }
#endif
