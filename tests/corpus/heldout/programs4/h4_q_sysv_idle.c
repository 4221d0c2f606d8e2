/* A worker of a SysV queue that gets its next task after more than a minute. */
#include "note.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/wait.h>

struct message {
    long type;
    int task;
};

static void dispatch(int q)
{
    struct message m = {1, 7};

    with_parent();
    note("dispatcher");
    msgsnd(q, &m, sizeof m.task, 0);
    sleep(66);
    m.task = -1;
    msgsnd(q, &m, sizeof m.task, 0);
    exit(0);
}

int main(void)
{
    int q = msgget(IPC_PRIVATE, 0600);
    struct message m = {0, 0};

    note("main");
    if (fork() == 0)
        dispatch(q);
    while (msgrcv(q, &m, sizeof m.task, 1, 0) >= 0 && m.task >= 0) {
        printf("task %d\n", m.task);
        fflush(stdout);
    }
    wait(NULL);
    msgctl(q, IPC_RMID, NULL);
    return 0;
}
