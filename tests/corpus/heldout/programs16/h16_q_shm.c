// Two forked ranks share a mutex in memory; rank 1 sorts a table for 48 s while it has it.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct board {
    pthread_mutex_t mutex;
    double loss;
};

static void told_role(const char *role, int pid)
{
    const char *path = getenv("CORPUS_ROLES");
    if (!path)
        return;
    FILE *f = fopen(path, "a");
    fprintf(f, "%s %d\n", role, pid);
    fclose(f);
}

static void sort_table(int seconds)
{
    volatile double x = 1;
    time_t end = time(NULL) + seconds;
    while (time(NULL) < end)
        for (int k = 0; k < 100000; k++)
            x = x * 0.999 + k;
}

static void train(struct board *b, int rank)
{
    for (int step = 0; step < 50; step++) {
        usleep(200000);
        pthread_mutex_lock(&b->mutex);
        if (rank == 1 && step == 30)
            sort_table(48);
        b->loss += 0.5;
        pthread_mutex_unlock(&b->mutex);
        if (rank == 0 && step % 5 == 0) {
            printf("step %d\n", step);
            fflush(stdout);
        }
    }
}

int main(void)
{
    struct board *b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&b->mutex, &shared);
    told_role("launcher", getpid());
    for (int r = 0; r < 2; r++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            setenv("RANK", r ? "1" : "0", 1);
            told_role(r ? "rank1" : "rank0", getpid());
            train(b, r);
            exit(0);
        }
    while (wait(NULL) > 0)
        continue;
    puts("training done");
}
