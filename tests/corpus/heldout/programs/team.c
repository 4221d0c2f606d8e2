/* Four threads share a barrier; one has returned. */
#include "rank.h"
static pthread_barrier_t bar;
static void *member(void *a)
{
    long id = (long)a;
    for (int i = 0; i < 1000; i++) {
        usleep(250000);
        if (id == 2 && i == 15)
            return NULL;
        pthread_barrier_wait(&bar);
        if (id == 0)
            say_step(i);
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
}
