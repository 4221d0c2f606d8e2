/* Three forked ranks meet after each step at a barrier in shared memory: each counts itself, and looks at the count until
 * it is three. Rank 0 sets the count back a little later. Rank 2 looks more and more seldom the longer it waits; in step
 * 30 rank 1 is late, and as rank 2 looks again the count has been set back. It waits at the barrier of that step, the
 * others at that of the next one.
 *
 * slow: all look each millisecond, and rank 1 takes 46 s in that step. */
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

#define RANKS 3

struct area {
    atomic_int count;
};

static void told_role(const char *name, int number)
{
    const char *path = getenv("CORPUS_ROLES");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (!f)
        return;
    if (number < 0)
        fprintf(f, "%s %d\n", name, (int)getpid());
    else
        fprintf(f, "%s%d %d\n", name, number, (int)getpid());
    fclose(f);
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

static void barrier(struct area *area, int backs_off)
{
    useconds_t pause = 1000;
    atomic_fetch_add(&area->count, 1);
    while (atomic_load(&area->count) < RANKS) {
        usleep(pause);
        if (backs_off && pause < 900000)
            pause *= 2;
    }
}

static void train(struct area *area, int rank, int slow)
{
    for (int step = 0; step < (slow ? 60 : 400); step++) {
        work(0.2);
        if (rank == 1 && step == 30)
            work(slow ? 46 : 2.3);
        barrier(area, rank == 2 && !slow);
        if (rank == 0) {
            if (step % 5 == 0) {
                printf("step %d loss %.3f\n", step, 2.5 / (1 + 0.1 * step));
                fflush(stdout);
            }
            usleep(80000);
            atomic_store(&area->count, 0);
        }
    }
}

int main(int argc, char **argv)
{
    int slow = argc > 1 && !strcmp(argv[1], "slow"), status, worst = 0;
    struct area *area = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    told_role("launcher", -1);
    for (int rank = 0; rank < RANKS; rank++) {
        if (fork() == 0) {
            char text[8];
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            snprintf(text, sizeof(text), "%d", rank);
            setenv("RANK", text, 1);
            told_role("rank", rank);
            train(area, rank, slow);
            exit(0);
        }
    }
    while (wait(&status) > 0)
        worst |= status;
    return worst != 0;
}
