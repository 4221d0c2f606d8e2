/* Four threads go from phase to phase by a barrier. The third found a bad record, said so and returned; the others wait in the barrier. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t phase;

static void *augment(void *arg)
{
    long me = (long)arg;
    for (int n = 0; n < 1000; n++) {
        usleep(150000);
        if (me == 2 && n == 25) {
            fprintf(stderr, "warning: record 25 is damaged\n");
            return NULL;
        }
        pthread_barrier_wait(&phase);
        if (me == 0) {
            printf("augmented %d batches\n", n);
            fflush(stdout);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t t[4];
    const char *path = getenv("CORPUS_ROLES");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (f) {
        fprintf(f, "main %d\n", getpid());
        fclose(f);
    }
    pthread_barrier_init(&phase, NULL, 4);
    for (long k = 0; k < 4; k++)
        pthread_create(&t[k], NULL, augment, (void *)k);
    for (int k = 0; k < 4; k++)
        pthread_join(t[k], NULL);
    return 0;
}
