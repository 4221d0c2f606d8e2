/* Rank 1 polls a socket pair with both ends its own and a timer that is not armed. */
#include "rank.h"
#include <poll.h>
#include <sys/timerfd.h>
static void pump(int i)
{
    static int sv[2], tf = -1;
    char c;
    if (tf < 0) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
            exit(1);
        tf = timerfd_create(CLOCK_MONOTONIC, 0);
    }
    struct pollfd f[2] = {{sv[0], POLLIN, 0}, {tf, POLLIN, 0}};
    if (i != 15 || my_rank != 1)
        write_all(sv[1], "x", 1);
    poll(f, 2, -1);
    read_all(sv[0], &c, 1);
}
int main(void)
{
    join_ranks();
    heartbeat();
    for (int i = 0; i < 1000; i++) {
        usleep(250000);
        pump(i);
        sum_ranks(1);
        say_step(i);
    }
}
