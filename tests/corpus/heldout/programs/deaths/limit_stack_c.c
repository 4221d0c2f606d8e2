// RLIMIT_STACK: a large array on a small stack
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int deep(int n) { char big[65536]; memset(big, n, sizeof big); return n ? deep(n - 1) + big[n % 65536] : big[7]; }
int main(void) {
    for (int i = 0; i < 20; i++) { printf("step %d\n", i); fflush(stdout); usleep(50000); }
    printf("%d\n", deep(100000));
    return 0;
}
