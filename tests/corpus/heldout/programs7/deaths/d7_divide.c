#include <stdio.h>
#include <unistd.h>

int main(void)
{
    volatile int parts = 8;
    for (int n = 0; n < 16; n++) {
        printf("chunk %d: %d rows\n", n, 4096 / parts);
        fflush(stdout);
        usleep(120000);
        parts--;
    }
    return 0;
}
