// Ranks of a C++ trainer by argument; rank 1 logs from within the code that has the log's mutex.
#include "note.h"
#include <arpa/inet.h>
#include <cstring>
#include <iostream>
#include <mutex>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <vector>

static std::mutex log_mutex;
static int rank_, world, port;

static void say(const std::string &line)
{
    std::lock_guard<std::mutex> l(log_mutex);
    std::cout << "[" << rank_ << "] " << line << std::endl;
}

static void check_gradient(double norm)
{
    std::lock_guard<std::mutex> l(log_mutex);
    if (norm > 100)
        say("gradient norm " + std::to_string(norm) + ", clipping");
}

static std::vector<int> connect_all()
{
    sockaddr_in a{};
    int one = 1, s = socket(AF_INET, SOCK_STREAM, 0);
    std::vector<int> peers(world);
    a.sin_family = AF_INET;
    a.sin_port = htons(port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (rank_) {
        while (connect(s, reinterpret_cast<sockaddr *>(&a), sizeof a)) {
            close(s);
            usleep(50000);
            s = socket(AF_INET, SOCK_STREAM, 0);
        }
        send(s, &rank_, sizeof rank_, 0);
        return {s};
    }
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    bind(s, reinterpret_cast<sockaddr *>(&a), sizeof a);
    listen(s, 16);
    for (int k = 1, r; k < world; k++) {
        int c = accept(s, nullptr, nullptr);
        recv(c, &r, sizeof r, MSG_WAITALL);
        peers[r] = c;
    }
    return peers;
}

static double all_reduce(const std::vector<int> &peers, double x)
{
    double y;
    if (rank_) {
        send(peers[0], &x, sizeof x, 0);
        recv(peers[0], &y, sizeof y, MSG_WAITALL);
        return y;
    }
    for (int r = 1; r < world; r++, x += y)
        recv(peers[r], &y, sizeof y, MSG_WAITALL);
    for (int r = 1; r < world; r++)
        send(peers[r], &x, sizeof x, 0);
    return x;
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2)
        (!strcmp(argv[i], "--rank") ? rank_ : !strcmp(argv[i], "--world") ? world : port) = atoi(argv[i + 1]);
    auto peers = connect_all();
    for (int i = 0; i < 1000; i++) {
        step_of(200);
        check_gradient(rank_ == 1 && i == 14 ? 300 : 1);
        double sum = all_reduce(peers, 1);
        if (rank_ == 0)
            say("step " + std::to_string(i) + " sum " + std::to_string(sum));
    }
}
