/* Rank 2 writes to a pipe whose reader, a thread of its own, waits for the mutex that the writer has. */
#include "rank.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int p[2];
static char block[300000];
static void *drain(void *a)
{
    static char b[4096];
    for (;;) {
        if (read(p[0], b, sizeof b) <= 0)
            return a;
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
}
static void emit(size_t n)
{
    pthread_mutex_lock(&m);
    write_all(p[1], block, n);
    pthread_mutex_unlock(&m);
}
int main(void)
{
    pthread_t t;
    if (pipe(p))
        return 1;
    join_ranks();
    pthread_create(&t, NULL, drain, NULL);
    for (int i = 0; i < 1000; i++) {
        usleep(250000);
        emit(my_rank == 2 && i == 15 ? sizeof block : 100);
        sum_ranks(1);
        say_step(i);
    }
}
