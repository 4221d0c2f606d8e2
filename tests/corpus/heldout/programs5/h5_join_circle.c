/* Three stages, each of which joins the one before it at the end of an epoch, and the first joins the last. */
#include "../programs4/note.h"
#include <pthread.h>

static pthread_t stage[3];
static pthread_barrier_t ready;

static void *run(void *which)
{
    long k = (long)which;

    pthread_barrier_wait(&ready);
    for (int step = 0; step < 10; step++) {
        step_of(200);
        if (k == 0)
            printf("epoch 0 step %d\n", step), fflush(stdout);
    }
    pthread_join(stage[(k + 2) % 3], NULL);
    return NULL;
}

int main(void)
{
    note("main");
    pthread_barrier_init(&ready, NULL, 4);
    for (long k = 0; k < 3; k++)
        pthread_create(&stage[k], NULL, run, (void *)k);
    pthread_barrier_wait(&ready);
    sleep(100000);
}
