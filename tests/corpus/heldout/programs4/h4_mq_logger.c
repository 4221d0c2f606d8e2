/* Ranks send their loss to a logger by a POSIX queue of eight messages; the logger ends after what it believes is the last. */
#include "note.h"
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static void logger(mqd_t q)
{
    char line[64];
    FILE *f = fopen("loss.log", "w");

    for (int n = 0; n < 30; n++) {
        if (mq_receive(q, line, sizeof line, NULL) > 0)
            fprintf(f, "%s\n", line);
        fflush(f);
    }
    exit(0);
}

static void train(mqd_t q)
{
    char line[64] = "";

    for (int i = 0; i < 1000; i++) {
        step_of(100);
        snprintf(line, sizeof line, "step %d loss %.3f", i, 1.0 / (i + 1));
        mq_send(q, line, strlen(line) + 1, 0);
    }
}

int main(void)
{
    struct mq_attr attr = {.mq_maxmsg = 8, .mq_msgsize = 64};
    char name[32];

    note("main");
    snprintf(name, sizeof name, "/loss.%d", (int)getpid());
    mqd_t q = mq_open(name, O_CREAT | O_RDWR, 0600, &attr);
    mq_unlink(name);
    if (fork() == 0) {
        with_parent();
        note("logger");
        logger(q);
    }
    train(q);
    return 0;
}
