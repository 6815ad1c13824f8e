/* libcutune for C++: what was opened is closed, in the right order, and what fails throws. Copy it, and change it as you like. */
#pragma once
#include <cutune.h>
#include <initializer_list>
#include <memory>
#include <stdexcept>

namespace tuned {
struct error : std::runtime_error {
    const int code; // CUTUNE_ERR_NOTFOUND, ...
    explicit error(int rc) : std::runtime_error(cutune_error()), code(rc) {}
};

inline void check(int rc)
{
    if (rc)
        throw error(rc);
}

class kernel { // what a look-up gives; keeps its device open
    std::shared_ptr<const cutune_kernel> k;

public:
    using arguments = std::initializer_list<void *>; // in the op's order
    kernel(const std::shared_ptr<cutune_handle> &device, const cutune_kernel *found) : k(device, found) {}
    const cutune_kernel *get() const { return k.get(); }
    void launch(void *stream, arguments a) const { check(cutune_launch(get(), stream, a.begin(), int(a.size()))); }
    void launch_host(arguments a) const { check(cutune_launch_host(get(), a.begin(), int(a.size()))); }
};

using database = std::shared_ptr<cutune>;
inline database open(const cutune_options *options = nullptr)
{
    cutune *c;
    check(cutune_open_with(options, &c));
    return { c, cutune_close };
}

class device { // keeps its database open
    std::shared_ptr<cutune_handle> h;
    template <class Attach, class Where> device(const database &d, Attach attach, Where where)
    {
        cutune_handle *attached;
        check(attach(d.get(), where, &attached));
        h.reset(attached, [d](cutune_handle *last) { cutune_detach(last); });
    }

public:
    static device cuda(const database &d, void *context) { return { d, cutune_attach_cuda, context }; }
    static device opencl(const database &d, void *queue) { return { d, cutune_attach_opencl, queue }; }
    static device named(const database &d, const char *id) { return { d, cutune_attach_device, id }; } // for launch_host
    kernel lookup(const char *op, const char *types, std::initializer_list<int64_t> sizes) const
    {
        const cutune_kernel *k;
        check(cutune_lookup(h.get(), op, types, sizes.begin(), int(sizes.size()), &k));
        return { h, k };
    }
};
} // namespace tuned
