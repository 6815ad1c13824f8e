// For launches in a row: with DEPENDENT the next may begin before this one has ended. This one says when, and the next waits before it
// touches anything of this one's. Every block of it waits, so that it does not end before this one, which what follows relies on.
#if DEPENDENT
#define START_NEXT  asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#define WAIT_FOR_IT asm volatile("griddepcontrol.wait;" ::: "memory")
#else
#define START_NEXT
#define WAIT_FOR_IT
#endif
