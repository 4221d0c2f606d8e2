// Reads one token past the end, with the checks of the library.
#undef _GLIBCXX_ASSERTIONS
#define _GLIBCXX_ASSERTIONS 1
#include <cstdio>
#include <unistd.h>
#include <vector>

int main() {
    std::vector<int> tokens(512);
    for (volatile unsigned k = 480; k < 520; k = k + 1) {
        usleep(30000);
        printf("token %u is %d\n", k, tokens[k]);
        fflush(stdout);
    }
    return 0;
}
