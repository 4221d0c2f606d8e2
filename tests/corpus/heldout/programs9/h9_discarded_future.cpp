// std::async whose future is not kept: its destructor waits for the end of the task, which ends when the flag after it is set.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>
#include <unistd.h>

static std::atomic<bool> stop{false};

static void watch() {
    while (!stop)
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
}

static void role(const char *name) {
    const char *path = getenv("CORPUS_ROLES");
    FILE *f = path ? fopen(path, "a") : nullptr;
    if (f) {
        fprintf(f, "%s %d\n", name, getpid());
        fclose(f);
    }
}

int main() {
    role("main");
    for (int k = 0; k < 12; k++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        printf("iteration %d\n", k);
        fflush(stdout);
    }
    std::async(std::launch::async, watch);
    for (int k = 12; k < 40; k++) {
        printf("iteration %d, watched\n", k);
        fflush(stdout);
    }
    stop = true;
    return 0;
}
