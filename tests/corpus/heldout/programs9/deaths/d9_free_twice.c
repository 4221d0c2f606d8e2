// Two owners of one buffer.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
    void *volatile cache[2];
    for (int k = 0; k < 10; k++) {
        usleep(120000);
        printf("segment %d\n", k);
        fflush(stdout);
    }
    cache[0] = cache[1] = malloc(64);
    free(cache[0]);
    free(cache[1]);
    return 0;
}
