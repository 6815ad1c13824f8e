/* transpose [DEVICE]: transposes a matrix in host memory on any device, by tuned.hpp. What is not tuned is written down for
 * `cutune run --wanted`. */
#include "tuned.hpp"

#include <cstdio>
#include <vector>

int main(int argc, char **argv)
try {
    const int64_t m = 1111, n = 113;
    std::vector<float> in(m * n), out(m * n);
    for (std::size_t i = 0; i < in.size(); i++)
        in[i] = static_cast<float>(i);

    cutune_options options = {};
    options.size = sizeof options;
    options.capture = 1;
    const auto device = tuned::device::named(tuned::open(&options), argc > 1 ? argv[1] : nullptr);
    const auto transpose = device.lookup("transpose", "f32", { m, n });
    transpose.launch_host({ out.data(), in.data() });
    std::printf("%s\n", cutune_kernel_why(transpose.get()));

    int wrong = 0;
    for (int64_t i = 0; i < m * n; i++)
        wrong += out[i % n * m + i / n] != in[i];
    std::printf("%d wrong\n", wrong);
    return wrong != 0;
} catch (const std::exception &e) {
    std::fprintf(stderr, "transpose: %s\n", e.what());
    return 1;
}
