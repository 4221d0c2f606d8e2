/* A consumer looks at a flag in shared memory without rest until the producer has worked for a minute. */
#include "note.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

int main(void)
{
    atomic_int *ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    time_t end = time(NULL) + 60;

    note("main");
    printf("waiting for the matrix\n");
    fflush(stdout);
    if (fork() == 0) {
        with_parent();
        note("producer");
        while (time(NULL) < end)
            step_of(1);
        atomic_store(ready, 1);
        _exit(0);
    }
    while (!atomic_load(ready))
        sched_yield();
    wait(NULL);
    printf("the matrix is there\n");
    return 0;
}
