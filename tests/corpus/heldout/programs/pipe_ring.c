/* A program that forks three workers joined by pipes; all write a large block before they read. */
#include "rank.h"
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
static int p[3][2];
static char block[1 << 20];
static void worker(int me)
{
    for (int i = 0; i < 1000; i++) {
        size_t n = i == 14 ? sizeof block : 100;
        usleep(300000);
        write_all(p[me][1], block, n);
        read_all(p[(me + 2) % 3][0], block, n);
        my_rank = me;
        say_step(i);
    }
}
int main(void)
{
    char name[16];
    note_role("main", getpid());
    for (int i = 0; i < 3; i++)
        if (pipe(p[i]))
            return 1;
    for (int i = 0; i < 3; i++) {
        int pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            worker(i);
            _exit(0);
        }
        snprintf(name, sizeof name, "worker%d", i);
        note_role(name, pid);
    }
    while (wait(NULL) > 0)
        ;
}
