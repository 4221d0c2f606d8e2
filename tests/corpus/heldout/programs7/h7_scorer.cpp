// A client asks a scoring server, its child, over TCP. The server's only scoring thread has caught a bad number and left; requests are still taken.
#include <arpa/inet.h>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <mutex>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <signal.h>

static std::mutex m;
static std::condition_variable some;
static std::deque<std::string> requests;

static void score(int s)
{
    try {
        for (;;) {
            std::unique_lock<std::mutex> hold(m);
            some.wait(hold, [] { return !requests.empty(); });
            std::string text = requests.front();
            requests.pop_front();
            hold.unlock();
            std::this_thread::sleep_for(std::chrono::milliseconds(150));
            std::string answer = std::to_string(1.0 / std::stod(text)) + "\n";
            if (send(s, answer.data(), answer.size(), MSG_NOSIGNAL) < 0)
                return;
        }
    } catch (const std::exception &) {
    }
}

static void serve(int s)
{
    char line[64];
    std::thread worker(score, s);
    for (ssize_t n; (n = recv(s, line, sizeof line, 0)) > 0;) {
        std::lock_guard<std::mutex> hold(m);
        requests.emplace_back(line, n);
        some.notify_one();
    }
    worker.join();
}

static void note(const char *role)
{
    if (const char *path = std::getenv("CORPUS_ROLES"))
        std::ofstream(path, std::ios::app) << role << " " << getpid() << "\n";
}

int main()
{
    sockaddr_in at{};
    socklen_t size = sizeof at;
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int door = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(door, (sockaddr *)&at, size) || listen(door, 4) || getsockname(door, (sockaddr *)&at, &size))
        return 2;
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        note("server");
        serve(accept(door, nullptr, nullptr));
        _exit(0);
    }
    note("main");
    close(door);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(s, (sockaddr *)&at, size))
        return 3;
    for (int n = 1; n < 1000; n++) {
        char text[64];
        int length = n == 25 ? std::snprintf(text, sizeof text, "n/a\n") : std::snprintf(text, sizeof text, "%d\n", n);
        if (send(s, text, length, 0) < 0 || recv(s, text, sizeof text, 0) <= 0)
            return 4;
        std::printf("scored %d\n", n);
        std::fflush(stdout);
    }
}
