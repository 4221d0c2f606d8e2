// A kernel was built for another processor: its way for wide vectors ends in an instruction that is none.
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) static void wide_kernel(int step)
{
    if (step == 25)
        __asm__ volatile("ud2");
}

int main(void)
{
    for (int step = 0; step < 60; step++) {
        if (step % 5 == 0) {
            printf("step %d\n", step);
            fflush(stdout);
        }
        usleep(100000);
        wide_kernel(step);
    }
}
