/* Ranks by RANK add up in a file that all map, with a barrier that spins; rank 2 stops when its loss is good enough. */
#include "note.h"
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct meeting {
    atomic_int arrived, round;
};

static void meet(struct meeting *m, int world)
{
    int round = atomic_load(&m->round);

    if (atomic_fetch_add(&m->arrived, 1) + 1 == world) {
        atomic_store(&m->arrived, 0);
        atomic_fetch_add(&m->round, 1);
        return;
    }
    while (atomic_load(&m->round) == round)
        sched_yield();
}

int main(void)
{
    int rank = atoi(getenv("RANK")), world = atoi(getenv("WORLD_SIZE"));
    int fd = open("meeting.shm", O_CREAT | O_RDWR, 0600);

    if (ftruncate(fd, 4096))
        return 1;
    struct meeting *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (int i = 0; i < 1000; i++) {
        double loss = 1.0 / (i + 1 + rank);

        step_of(150);
        if (loss < 0.07 && rank == 2) {
            printf("rank 2: converged\n");
            return 0;
        }
        meet(m, world);
        if (rank == 0) {
            printf("step %d loss %.3f\n", i, loss);
            fflush(stdout);
        }
    }
    return 0;
}
