/* A condition variable of rank 2 is signalled before the wait begins. */
#include "rank.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static void wait_stage(int i)
{
    pthread_mutex_lock(&m);
    if (i == 15 && my_rank == 2) {
        pthread_cond_signal(&c);
        pthread_cond_wait(&c, &m);
    }
    pthread_mutex_unlock(&m);
}
int main(void)
{
    join_ranks();
    heartbeat();
    heartbeat();
    for (int i = 0; i < 1000; i++) {
        usleep(250000);
        wait_stage(i);
        sum_ranks(1);
        say_step(i);
    }
}
