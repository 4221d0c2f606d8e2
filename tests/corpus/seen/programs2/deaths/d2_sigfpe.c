#include <stdio.h>
#include <unistd.h>
int main(int c, char **v) {
    (void)v;
    for (int i = 0; i < 10; i++) { printf("step %d loss %.3f\n", i, 2.0 / (i + 1)); fflush(stdout); usleep(30000); }
    volatile int batch = 0;
    return 64 / batch + c;
}
