/* Two threads of rank 1 take two mutexes in opposite order. */
#include "rank.h"
static pthread_mutex_t rows = PTHREAD_MUTEX_INITIALIZER, index_ = PTHREAD_MUTEX_INITIALIZER;
static volatile int go;
static void *reindex(void *a)
{
    while (!go)
        usleep(20000);
    pthread_mutex_lock(&index_);
    usleep(300000);
    pthread_mutex_lock(&rows);
    return a;
}
static void insert(int i)
{
    pthread_mutex_lock(&rows);
    if (i == 15 && my_rank == 1) {
        go = 1;
        usleep(300000);
    }
    pthread_mutex_lock(&index_);
    pthread_mutex_unlock(&index_);
    pthread_mutex_unlock(&rows);
}
int main(void)
{
    pthread_t t;
    join_ranks();
    heartbeat();
    pthread_create(&t, NULL, reindex, NULL);
    for (int i = 0; i < 1000; i++) {
        usleep(250000);
        insert(i);
        sum_ranks(1);
        say_step(i);
    }
}
