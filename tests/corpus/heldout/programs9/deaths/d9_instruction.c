// A kernel that was built for a newer processor.
#include <stdio.h>
#include <unistd.h>

static void fused(void) { __builtin_trap(); }

int main(void) {
    for (int k = 0; k < 10; k++) {
        usleep(150000);
        printf("warm-up %d\n", k);
        fflush(stdout);
    }
    fused();
    return 0;
}
