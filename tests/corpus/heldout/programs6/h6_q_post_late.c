/* A process computes for 63 s and then posts a semaphore in shared memory that its parent waits on. */
#include "../programs4/note.h"
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>

static void compute(int seconds)
{
    volatile double x = 1;

    for (time_t end = time(NULL) + seconds; time(NULL) < end;)
        for (int i = 0; i < 1000000; i++)
            x = x * 0.9999 + i;
}

int main(void)
{
    sem_t *ready = mmap(NULL, sizeof(*ready), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    note("main");
    sem_init(ready, 1, 0);
    if (fork() == 0) {
        note("solver");
        with_parent();
        for (int n = 0; n < 20; n++) {
            n == 12 ? compute(63) : (void)step_of(150);
            sem_post(ready);
        }
        _exit(0);
    }
    for (int n = 0; n < 20; n++) {
        sem_wait(ready);
        printf("solved %d\n", n);
        fflush(stdout);
    }
    wait(NULL);
}
