/* A thread has a rwlock for writing and reads a pipe of its own; main wants to read. */
#include "rank.h"
static pthread_rwlock_t model = PTHREAD_RWLOCK_INITIALIZER;
static int mail[2];
static volatile int go;
static void *reload(void *a)
{
    char c;
    while (!go)
        usleep(20000);
    pthread_rwlock_wrlock(&model);
    if (read(mail[0], &c, 1) == 1)
        pthread_rwlock_unlock(&model);
    return a;
}
int main(void)
{
    pthread_t t;
    if (pipe(mail))
        return 1;
    join_ranks();
    pthread_create(&t, NULL, reload, NULL);
    for (int i = 0; i < 1000; i++) {
        usleep(250000);
        if (i == 15)
            go = 1, usleep(200000);
        pthread_rwlock_rdlock(&model);
        say_step(i);
        pthread_rwlock_unlock(&model);
    }
}
