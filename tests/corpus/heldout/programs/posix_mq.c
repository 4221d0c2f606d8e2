/* Rank 1 takes from a POSIX queue; the child that fed it has ended. */
#include "rank.h"
#include <fcntl.h>
#include <mqueue.h>
int main(void)
{
    char name[64], buf[64];
    struct mq_attr at = {.mq_maxmsg = 4, .mq_msgsize = 64};
    mqd_t q;
    join_ranks();
    snprintf(name, sizeof name, "/corpus_q_%s_%d", getenv("MASTER_PORT"), my_rank);
    q = mq_open(name, O_CREAT | O_RDWR, 0600, &at);
    mq_unlink(name);
    if (my_rank == 1 && fork() == 0) {
        for (int i = 0; i < 15; i++)
            mq_send(q, "item", 5, 0);
        _exit(0);
    }
    for (int i = 0; i < 1000; i++) {
        usleep(250000);
        if (my_rank == 1)
            mq_receive(q, buf, sizeof buf, NULL);
        sum_ranks(1);
        say_step(i);
    }
}
