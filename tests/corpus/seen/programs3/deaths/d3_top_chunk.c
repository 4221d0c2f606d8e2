#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    for (int i = 0; i < 20; i++) { printf("iter %d loss %.4f\n", i, 3.0 / (i + 2)); fflush(stdout); usleep(50000); }
    char *volatile a = malloc(5000);
    volatile int n = 5064;
    for (int i = 0; i < n; i++) ((volatile char *)a)[i] = (char)0xff;
    char *volatile b = malloc(200000 - 80000);
    return b == NULL;
}
