#include <assert.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    int heads = 12;
    for (int n = 0; n < 10; n++) {
        printf("tile %d of 64\n", n);
        fflush(stdout);
        usleep(100000);
        heads -= n == 9;
    }
    assert(heads % 4 == 0);
    return 0;
}
