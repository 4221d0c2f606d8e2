#include <cstdio>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>
int main() {
    rlimit r{300 << 20, 300 << 20};
    setrlimit(RLIMIT_AS, &r);
    std::vector<std::vector<char>> kept;
    for (int i = 0; i < 1000; i++) { printf("step %d loss 1.2\n", i); fflush(stdout); kept.emplace_back(8 << 20, 'x'); usleep(20000); }
}
