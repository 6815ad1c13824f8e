/* The start of a file of NumPy's. */
#include "fuzz.h"

#include "op/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = { 0 };
    struct data_file f = { 0 };
    char element[DATA_ELEMENT] = "";
    char *copy = malloc(size ? size : 1);
    must(copy);
    memcpy(copy, data, size);
    int rc = npy_read(copy, size, element, &f, &err);
    must_say(rc, &err);
    if (!rc) {
        must(npy_is(copy, size) && f.at >= 10 && (size_t)f.at <= size);
        must(f.rank >= 0 && f.rank <= MAX_RANK && strlen(element) < DATA_ELEMENT && strlen(element) >= 2);
        for (int i = 0; i < f.rank; i++)
            must(f.shape[i] >= 0);
    }
    free(copy);
    return 0;
}
