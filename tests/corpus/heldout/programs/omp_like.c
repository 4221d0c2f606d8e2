/* Threads with a barrier; one of them computes for a minute, quietly. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static pthread_barrier_t bar;
static volatile double sink;
static void burn(double s)
{
    time_t end = time(NULL) + (time_t)s;
    double x = 1.0;
    while (time(NULL) < end)
        for (int i = 0; i < 100000; i++)
            x = x * 1.0000001 + 0.1 / (x + 1.0);
    sink = x;
}
static void *member(void *arg)
{
    long id = (long)arg;
    for (int i = 0; i < 12; i++) {
        usleep(300000);
        if (i == 11 && id == 2)
            burn(60);
        pthread_barrier_wait(&bar);
        if (id == 0) {
            printf("step %d loss %.3f\n", i, 1.0 / (i + 1));
            fflush(stdout);
        }
    }
    return NULL;
}
int main(void)
{
    pthread_t t[4];
    pthread_barrier_init(&bar, NULL, 4);
    for (long i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, member, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    return 0;
}
