/* Ranks spin on counters in a shared page; rank 0 reads from a child that sleeps. */
#define _GNU_SOURCE
#include "rank.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
static volatile int *at;
static void meet(int i)
{
    at[my_rank * 16] = i;
    for (int r = 0; r < n_ranks; r++)
        while (at[r * 16] < i)
            ;
}
static int helper(void)
{
    int p[2], pid;
    if (pipe(p))
        exit(1);
    if ((pid = fork()) == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(p[0]);
        for (;;)
            sleep(3600);
    }
    note_role("helper0", pid);
    close(p[1]);
    return p[0];
}
int main(void)
{
    char path[128], c;
    int fd;
    join_ranks();
    snprintf(path, sizeof path, "/dev/shm/corpus_p_%s", getenv("MASTER_PORT"));
    fd = open(path, O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 4096))
        return 1;
    at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    sum_ranks(1);
    unlink(path);
    for (int i = 1; i < 1000; i++) {
        usleep(250000);
        if (my_rank == 0 && i == 15 && read(helper(), &c, 1) < 0)
            return 1;
        meet(i);
        say_step(i);
    }
}
