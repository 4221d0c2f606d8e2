#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    for (int i = 0; i < 20; i++) { printf("iter %d loss %.4f\n", i, 3.0 / (i + 2)); fflush(stdout); usleep(50000); }
    char *volatile a = malloc(40);
    free(a);
    free(a);
    return 0;
}
