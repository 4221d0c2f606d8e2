#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    for (int w = 0; w < 4; w++)
        if (!fork()) {
            for (int i = 0; i < 20; i++) { usleep(50000); if (w == 2 && i == 10) *(volatile int *)8 = 1; }
            _exit(0);
        }
    for (int i = 0; i < 10; i++) { printf("step %d loss %.3f\n", i, 2.0 / (i + 1)); fflush(stdout); usleep(30000); }
    int st, n = 0;
    while (wait(&st) > 0) { n++; if (WIFSIGNALED(st)) { fprintf(stderr, "pool: worker 2 went away, giving up\n"); usleep(200000); exit(1); } }
    return 0;
}
