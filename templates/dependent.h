// For two launches in a row: with DEPENDENT the second may begin before the first has ended. The first says when, and the second waits
// before it touches anything of the first's.
#if DEPENDENT
#define START_NEXT  asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#define WAIT_FOR_IT asm volatile("griddepcontrol.wait;" ::: "memory")
#else
#define START_NEXT
#define WAIT_FOR_IT
#endif
