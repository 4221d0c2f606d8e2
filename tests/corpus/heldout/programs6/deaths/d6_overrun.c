#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    for (int slot = 0; slot < 12; slot++) {
        printf("slot %d\n", slot);
        fflush(stdout);
        usleep(150000);
    }
    fprintf(stderr, "ring.c:91: consumer 2 was overrun at slot 12 (lag 1024)\n");
    abort();
}
