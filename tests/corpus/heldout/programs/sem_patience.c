/* Waits for a semaphore with a limit, again and again; a thread posts after a minute. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static sem_t ready;
static void *stage(void *a)
{
    (void)a;
    sleep(64);
    sem_post(&ready);
    return NULL;
}
int main(void)
{
    pthread_t t;
    struct timespec ts;
    sem_init(&ready, 0, 0);
    for (int i = 0; i < 12; i++) {
        usleep(200000);
        printf("step %d loss %.3f\n", i, 1.0 / (i + 1));
        fflush(stdout);
    }
    pthread_create(&t, NULL, stage, NULL);
    for (;;) {
        clock_gettime(CLOCK_REALTIME, &ts);
        ts.tv_sec += 25;
        if (sem_timedwait(&ready, &ts) == 0)
            break;
    }
    pthread_join(t, NULL);
    puts("staged");
    return 0;
}
