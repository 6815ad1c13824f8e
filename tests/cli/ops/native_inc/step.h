#define STEP 64
