// RLIMIT_FSIZE: a C program dies of SIGXFSZ
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
int main(void) {
    struct rlimit l = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &l);
    for (int i = 0; i < 20; i++) { printf("step %d\n", i); fflush(stdout); usleep(100000); }
    FILE *f = fopen("ckpt.bin", "w");
    static char block[1 << 16];
    for (int i = 0; i < 64; i++) fwrite(block, 1, sizeof block, f);
    fclose(f);
    return 0;
}
