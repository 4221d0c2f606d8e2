/* Ranks by argument share a pthread barrier in a mapped file; rank 0 waits for SIGUSR1 after its profile window. */
#include "note.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct shared {
    pthread_barrier_t barrier;
    atomic_int made;
};

static int number(int argc, char **argv, const char *name)
{
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(argv[i], name))
            return atoi(argv[i + 1]);
    return 0;
}

static void make(struct shared *s, int world)
{
    pthread_barrierattr_t a;

    pthread_barrierattr_init(&a);
    pthread_barrierattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&s->barrier, &a, world);
    atomic_store(&s->made, 1);
}

static void profile(void)
{
    sigset_t set;
    int got;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigwait(&set, &got);
}

int main(int argc, char **argv)
{
    int rank = number(argc, argv, "--rank"), world = number(argc, argv, "--world");
    int fd = open("barrier.shm", O_CREAT | O_RDWR, 0600);

    if (ftruncate(fd, 4096))
        return 1;
    struct shared *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (rank == 0)
        make(s, world);
    while (!atomic_load(&s->made))
        usleep(10000);
    for (int i = 0; i < 1000; i++) {
        step_of(200);
        if (rank == 0 && i == 14)
            profile();
        pthread_barrier_wait(&s->barrier);
        if (rank == 1) {
            printf("step %d\n", i);
            fflush(stdout);
        }
    }
    return 0;
}
