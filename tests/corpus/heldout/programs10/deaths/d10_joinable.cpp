// A thread object goes away while its thread runs, as an error leaves the function; the error is not what ends the program.
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

static void epoch(int k) {
    std::thread saver([] { std::this_thread::sleep_for(std::chrono::seconds(2)); });
    if (k == 3)
        throw std::runtime_error("checkpoint folder /ckpt/run7 is full");
    saver.join();
}

int main() {
    for (int k = 0; k < 5; k++) {
        printf("epoch %d\n", k);
        fflush(stdout);
        try {
            if (k >= 3)
                epoch(k);
            std::this_thread::sleep_for(std::chrono::milliseconds(400));
        } catch (const std::exception &e) {
            printf("skipped: %s\n", e.what());
        }
    }
}
