/* Backends without compilers. */
#include "device/device.h"
#include "device/cuda_part.h"
#include "device/opencl_part.h"

static int list_none(struct devspec *out, int max, struct err *err)
{
    (void)out;
    (void)max;
    (void)err;
    return 0;
}

const struct backend cuda_backend = { .name = "cuda", .format = "cubin", .list = cuda_list };
const struct backend opencl_backend = { .name = "opencl", .format = "clbin", .list = opencl_list };
const struct backend null_backend = { .name = "null", .format = "null", .list = list_none };

/* An exported OpenCL program is its source. */
int opencl_program_load(const struct opencl_session *s, const void *image, size_t bytes, cl_program *out, struct err *err)
{
    struct buf log = { 0 };
    struct err why = { 0 };
    (void)bytes; /* a string */
    int rc = opencl_build(s, image, out, &log, &why);
    if (rc == ERR_INVALID && log.len) {
        char line[256];
        compile_log_line(&log, line);
        rc = err_set(err, ERR_UNSUPPORTED, "its source does not compile here: %s", line);
    } else if (rc) {
        err_set(err, rc, "%s", why.msg);
    }
    buf_free(&log);
    return rc;
}
