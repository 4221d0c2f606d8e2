/* Two forked ranks hand a gradient over in shared memory, by two semaphores. At each epoch the first of them to come sets
 * the area up anew. In the second epoch rank 1 has seen that the area is an old one, and only then loads its data;
 * meanwhile rank 0 has set it up and posted. Rank 1 sets it up once more, the post is lost: rank 1 waits for a gradient,
 * rank 0 for its answer.
 *
 * slow: rank 1 loads for 48 s before it looks. */
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct area {
    atomic_int epoch;
    sem_t full, empty;
    double gradient;
};

static void told_role(const char *name)
{
    const char *path = getenv("CORPUS_ROLES");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (f) {
        fprintf(f, "%s %d\n", name, (int)getpid());
        fclose(f);
    }
}

static double work(double seconds)
{
    struct timespec begin, now;
    double x = 1;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int k = 0; k < 100000; k++)
            x = x * 0.999 + k;
        usleep(20000);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) + (now.tv_nsec - begin.tv_nsec) * 1e-9 < seconds);
    return x;
}

static void load(int rank, int epoch, int slow)
{
    if (rank == 1 && epoch == 1)
        work(slow ? 48 : 1.5);
}

static void attach(struct area *area, int rank, int epoch, int slow)
{
    if (slow)
        load(rank, epoch, slow);
    if (atomic_load(&area->epoch) == epoch)
        return;
    if (!slow)
        load(rank, epoch, slow);
    sem_init(&area->full, 1, 0);
    sem_init(&area->empty, 1, 0);
    atomic_store(&area->epoch, epoch);
}

static void hand_over(struct area *area, int rank, double x)
{
    if (rank == 0) {
        area->gradient = x;
        sem_post(&area->full);
        sem_wait(&area->empty);
    } else {
        sem_wait(&area->full);
        area->gradient += x;
        sem_post(&area->empty);
    }
}

static void train(struct area *area, int rank, int slow)
{
    for (int epoch = 0; epoch < 2; epoch++) {
        if (rank == 0)
            work(0.3); /* a checkpoint */
        attach(area, rank, epoch, slow);
        for (int step = 0; step < 40; step++) {
            work(0.2);
            hand_over(area, rank, 0.5);
            if (rank == 0 && step % 5 == 0) {
                printf("step %d loss %.3f\n", 40 * epoch + step, 2.5 / (1 + 0.1 * (40 * epoch + step)));
                fflush(stdout);
            }
        }
    }
}

int main(int argc, char **argv)
{
    int slow = argc > 1 && !strcmp(argv[1], "slow"), status, worst = 0;
    struct area *area = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    told_role("launcher");
    sem_init(&area->full, 1, 0);
    sem_init(&area->empty, 1, 0);
    for (int rank = 0; rank < 2; rank++) {
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            setenv("RANK", rank ? "1" : "0", 1);
            told_role(rank ? "rank1" : "rank0");
            train(area, rank, slow);
            exit(0);
        }
    }
    while (wait(&status) > 0)
        worst |= status;
    return worst != 0;
}
