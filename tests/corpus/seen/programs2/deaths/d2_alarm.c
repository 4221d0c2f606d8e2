#include <stdio.h>
#include <unistd.h>
int main(void) {
    alarm(3);
    for (int i = 0; i < 1000; i++) { printf("step %d loss %.3f\n", i, 2.0 / (i + 1)); fflush(stdout); usleep(30000); }
    return 0;
}
