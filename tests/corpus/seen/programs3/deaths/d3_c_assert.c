#include <assert.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
    volatile int batch = 0;
    for (int i = 0; i < 15; i++) { printf("iter %d\n", i); fflush(stdout); usleep(50000); }
    assert(batch > 0 && "empty batch");
    return 0;
}
