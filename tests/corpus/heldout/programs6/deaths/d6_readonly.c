#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
    char *weights = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int n = 0; n < 10; n++) {
        printf("layer %d sum %d\n", n, weights[n << 12]);
        fflush(stdout);
        usleep(150000);
    }
    weights[5 << 12] = 1;
    return weights[0];
}
