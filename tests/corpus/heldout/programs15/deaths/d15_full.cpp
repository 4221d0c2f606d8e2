// A checkpoint is written to a full device; the stream throws, main tells it and leaves with 1.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>

static void save(const char *path)
{
    std::ofstream out(path, std::ios::binary);
    std::vector<char> weights(1 << 20);
    out.write(weights.data(), weights.size());
    out.flush();
    if (!out)
        throw std::runtime_error(std::string("writing ") + path + ": " + strerror(errno));
}

int main()
{
    for (int step = 0; step < 100; step++) {
        if (step % 5 == 0)
            std::cout << "step " << step << " loss " << 2.5 / (1 + 0.1 * step) << std::endl;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        if (step != 70)
            continue;
        try {
            save("/dev/full");
        } catch (const std::exception &e) {
            std::cerr << "error: " << e.what() << std::endl;
            return 1;
        }
    }
}
