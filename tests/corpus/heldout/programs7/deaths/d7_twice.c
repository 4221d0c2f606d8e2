#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void release(char *volatile buffer)
{
    free(buffer);
}

int main(void)
{
    char *buffer = malloc(64);
    for (int n = 0; n < 8; n++) {
        printf("staged %d bytes\n", n * 64);
        fflush(stdout);
        usleep(120000);
    }
    release(buffer);
    release(buffer);
    return 0;
}
