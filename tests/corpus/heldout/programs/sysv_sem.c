/* Rank 0 waits for a System V semaphore of rank 2; rank 2 waits for a message of a child that has ended. */
#include "rank.h"
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <signal.h>
static int sem, que;
static void tidy(int s)
{
    (void)s;
    semctl(sem, 0, IPC_RMID);
    msgctl(que, IPC_RMID, NULL);
    _exit(1);
}
int main(void)
{
    struct { long t; char b[8]; } m = {1, "x"};
    key_t k = 0x5a000000 + atoi(getenv("MASTER_PORT"));
    struct sembuf up = {0, 1, 0}, down = {0, -1, 0};
    join_ranks();
    sem = semget(k, 1, IPC_CREAT | 0600);
    que = msgget(k, IPC_CREAT | 0600);
    signal(SIGTERM, tidy);
    sum_ranks(1);
    heartbeat();
    if (my_rank == 2 && fork() == 0) {
        signal(SIGTERM, SIG_DFL);
        for (int i = 0; i < 15; i++)
            msgsnd(que, &m, 8, 0);
        _exit(0);
    }
    for (int i = 0; i < 1000; i++) {
        usleep(250000);
        if (my_rank == 2) {
            msgrcv(que, &m, 8, 0, 0);
            semop(sem, &up, 1);
        }
        if (my_rank == 0)
            semop(sem, &down, 1);
        sum_ranks(1);
        say_step(i);
    }
}
