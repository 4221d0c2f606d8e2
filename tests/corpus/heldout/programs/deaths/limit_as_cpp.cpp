// RLIMIT_AS: C++ throws bad_alloc, nobody catches it
#include <cstdio>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>
int main() {
    rlimit l{256 << 20, 256 << 20};
    setrlimit(RLIMIT_AS, &l);
    std::vector<std::vector<char>> keep;
    for (int i = 0;; i++) { std::printf("step %d\n", i); std::fflush(stdout); usleep(20000); keep.emplace_back(8 << 20); }
}
