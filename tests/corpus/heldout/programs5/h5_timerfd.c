/* A sampler of statistics wakes by a timer; setting it again with nought as the first time switches it off. */
#include "../programs4/note.h"
#include <stdint.h>
#include <sys/timerfd.h>

int main(void)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec t = {{0, 300000000}, {0, 300000000}};
    uint64_t times;

    note("main");
    timerfd_settime(fd, 0, &t, NULL);
    for (int n = 0; n < 1000; n++) {
        if (read(fd, &times, 8) != 8)
            return 1;
        printf("sample %d\n", n), fflush(stdout);
        if (n == 14) { /* slower from here on */
            t.it_interval.tv_sec = 2;
            t.it_value.tv_nsec = t.it_interval.tv_nsec = 0;
            timerfd_settime(fd, 0, &t, NULL);
        }
    }
}
