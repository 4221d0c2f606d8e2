/* Tasks and results by one SysV message queue; from the tenth task on the worker answers with another type. */
#include "note.h"
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>

struct message {
    long type;
    double value;
};

static void work(int q)
{
    struct message m;

    for (int k = 0;; k++) {
        if (msgrcv(q, &m, sizeof m.value, 1, 0) < 0)
            return;
        step_of(100);
        m.type = k < 10 ? 2 : 3;
        m.value *= 2;
        msgsnd(q, &m, sizeof m.value, 0);
    }
}

int main(void)
{
    int q = msgget(IPC_PRIVATE, 0600);
    struct message m;

    note("main");
    if (fork() == 0) {
        with_parent();
        note("worker");
        work(q);
        return 0;
    }
    for (int i = 0; i < 1000; i++) {
        m = (struct message){1, i};
        msgsnd(q, &m, sizeof m.value, 0);
        msgrcv(q, &m, sizeof m.value, 2, 0);
        step_of(150);
        printf("iteration %d value %.1f\n", i, m.value);
        fflush(stdout);
    }
    return 0;
}
