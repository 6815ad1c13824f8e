/* Backends without compilers, and without what measuring needs. */
#include "device/cuda_part.h"
#include "device/opencl_part.h"

const struct backend_compiling nvrtc_compiling = { 0 };
const struct backend_compiling opencl_compiling = { 0 };
const struct backend_measuring cuda_measuring = { 0 };
const struct backend_measuring opencl_measuring = { 0 };

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
