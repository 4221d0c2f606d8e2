/* Four ranks forked by the program itself, a ring of pipes. Rank 2 waits on a semaphore that its loader's thread posts no more. */
#include "../programs4/note.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>

static sem_t loaded;
static int rank, ring[4][2];

static void *load(void *unused)
{
    for (int batch = 0; rank != 2 || batch < 14; batch++) {
        step_of(100);
        sem_post(&loaded);
    }
    return unused;
}

static void train(void)
{
    char name[20];
    pthread_t t;
    double x = rank, y;

    snprintf(name, sizeof(name), "%d", rank);
    setenv("RANK", name, 1);
    snprintf(name, sizeof(name), "rank%d", rank);
    note(name);
    with_parent();
    sem_init(&loaded, 0, 0);
    pthread_create(&t, NULL, load, NULL);
    for (int step = 0; step < 1000; step++) {
        sem_wait(&loaded);
        step_of(100);
        for (int k = 0; k < 3; k++) {
            if (write(ring[rank][1], &x, 8) != 8 || read(ring[(rank + 3) % 4][0], &y, 8) != 8)
                _exit(1);
        }
        if (rank == 0)
            printf("[%d] loss %g\n", step, 1.0 / (step + 1)), fflush(stdout);
    }
}

int main(void)
{
    note("launcher");
    for (int k = 0; k < 4; k++)
        if (pipe(ring[k]))
            return 1;
    for (rank = 0; rank < 4; rank++) {
        if (fork())
            continue;
        for (int k = 0; k < 4; k++) { /* writes to its own, reads its neighbour's */
            if (k != rank)
                close(ring[k][1]);
            if (k != (rank + 3) % 4)
                close(ring[k][0]);
        }
        train();
        _exit(0);
    }
    for (int k = 0; k < 4; k++)
        close(ring[k][0]), close(ring[k][1]);
    while (wait(NULL) > 0)
        ;
}
