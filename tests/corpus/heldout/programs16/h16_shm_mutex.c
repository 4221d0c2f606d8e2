// Three forked ranks add their losses in shared memory, under a mutex that processes share. Rank 2 finds a bad record
// while it has the mutex, tells it and exits. The others wait for the mutex, the parent for rank 0.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct board {
    pthread_mutex_t mutex;
    double loss;
    int steps[3];
};

static void told_role(const char *role, int number)
{
    const char *path = getenv("CORPUS_ROLES");
    if (!path)
        return;
    FILE *f = fopen(path, "a");
    if (number < 0)
        fprintf(f, "%s %d\n", role, (int)getpid());
    else
        fprintf(f, "%s%d %d\n", role, number, (int)getpid());
    fclose(f);
}

static void add_loss(struct board *b, int rank, int step)
{
    pthread_mutex_lock(&b->mutex);
    if (rank == 2 && step == 50) {
        fprintf(stderr, "rank 2: record 1811 has no label\n");
        exit(1);
    }
    b->loss += 0.5;
    b->steps[rank] = step;
    pthread_mutex_unlock(&b->mutex);
}

static void train(struct board *b, int rank)
{
    for (int step = 0; step < 400; step++) {
        usleep(160000);
        add_loss(b, rank, step);
        if (rank == 0 && step % 5 == 0) {
            printf("step %d loss %.3f\n", step, b->loss / (3 * step + 3));
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
    told_role("launcher", -1);
    pid_t pids[3];
    for (int r = 0; r < 3; r++) {
        pids[r] = fork();
        if (pids[r] == 0) {
            char text[8];
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            snprintf(text, sizeof text, "%d", r);
            setenv("RANK", text, 1);
            told_role("rank", r);
            train(b, r);
            exit(0);
        }
    }
    for (int r = 0; r < 3; r++)
        waitpid(pids[r], NULL, 0);
    puts("training done");
}
