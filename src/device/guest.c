#include "device/guest.h"

#include <string.h>

static const struct guest_backend *const guests[] = { &cuda_guest, &opencl_guest, &null_guest };

const struct guest_backend *guest_backend_find(const char *name)
{
    for (size_t i = 0; i < sizeof guests / sizeof *guests; i++)
        if (strcmp(guests[i]->name, name) == 0)
            return guests[i];
    return NULL;
}
