// A thread logs under a std::mutex; the main thread forks a child that saves a snapshot and logs as well.
#include "../programs4/note.h"
#include <iostream>
#include <mutex>
#include <sys/wait.h>
#include <thread>

static std::mutex log_lock;

static void log_line(const char *text, int ms)
{
    std::lock_guard<std::mutex> hold(log_lock);
    std::cout << text << std::endl;
    step_of(ms);
}

static void snapshot()
{
    pid_t child = fork();

    if (child == 0) {
        note("child");
        with_parent();
        log_line("snapshot", 1);
        _exit(0);
    }
    waitpid(child, nullptr, 0);
}

int main()
{
    note("main");
    for (int i = 0; i < 8; i++) {
        log_line("step", 100);
        step_of(200);
    }
    std::thread slow([] { log_line("evaluating", 3000); });
    step_of(500);
    snapshot();
    slow.join();
}
