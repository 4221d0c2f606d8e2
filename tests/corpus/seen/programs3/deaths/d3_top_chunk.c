#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void) {
    for (int i = 0; i < 20; i++) { printf("iter %d loss %.4f\n", i, 3.0 / (i + 2)); fflush(stdout); usleep(50000); }
    char *volatile a = malloc(5000);
    volatile int n = 5064;
    memset(a, 0xff, n);
    char *volatile b = malloc(200000 - 80000);
    return b == NULL;
}
