#include <stdio.h>
#include <unistd.h>
static int deep(int n) { volatile char pad[4096]; pad[0] = (char)n; return n < 0 ? 0 : deep(n + 1) + pad[0]; }
int main(void) {
    for (int i = 0; i < 10; i++) { printf("step %d loss %.3f\n", i, 2.0 / (i + 1)); fflush(stdout); usleep(30000); }
    return deep(0);
}
