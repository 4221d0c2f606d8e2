/* A pool of four threads; the last task is signalled before anybody waits for it. */
#include "note.h"
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, all_done = PTHREAD_COND_INITIALIZER;
static int waiting, done;

static void *work(void *none)
{
    (void)none;
    for (;;) {
        pthread_mutex_lock(&lock);
        waiting++;
        pthread_cond_wait(&more, &lock);
        waiting--;
        pthread_mutex_unlock(&lock);
        step_of(80);
        pthread_mutex_lock(&lock);
        done++;
        pthread_cond_signal(&all_done);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void run(int tasks)
{
    pthread_mutex_lock(&lock);
    done = 0;
    for (int k = 0; k < tasks; k++)
        pthread_cond_signal(&more);
    while (done < tasks)
        pthread_cond_wait(&all_done, &lock);
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    pthread_t t[4];

    note("main");
    for (int k = 0; k < 4; k++)
        pthread_create(&t[k], NULL, work, NULL);
    step_of(300);
    for (int i = 0; i < 100; i++) {
        run(i < 15 ? 4 : 6);
        step_of(150);
        printf("layer %d done\n", i);
        fflush(stdout);
    }
    return 0;
}
