/* A SysV semaphore guards the card; it is taken without SEM_UNDO, and one process aborts on bad input while it has it. */
#include "note.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/wait.h>

static void change(int s, int by)
{
    struct sembuf b = {0, (short)by, 0};

    semop(s, &b, 1);
}

static void use_card(int s, int k)
{
    char name[16];

    snprintf(name, sizeof name, "user%d", k);
    with_parent();
    note(name);
    for (int i = 0; i < 100; i++) {
        change(s, -1);
        step_of(120);
        if (k == 1 && i == 5)
            _exit(0);
        change(s, 1);
        printf("process %d: kernel %d\n", k, i);
        fflush(stdout);
        step_of(20);
    }
}

int main(void)
{
    int s = semget(IPC_PRIVATE, 1, 0600);

    note("main");
    change(s, 1);
    for (int k = 0; k < 3; k++)
        if (fork() == 0) {
            use_card(s, k);
            exit(0);
        }
    while (wait(NULL) > 0)
        ;
    return 0;
}
