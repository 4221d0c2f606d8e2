/* A writer waits for new records with a limit of 35 s, twice without any, as its only producer pauses; then both end. */
#include "../programs4/note.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int made, over;

static void *produce(void *unused)
{
    for (int n = 0; n < 20; n++) {
        step_of(n == 15 ? 71000 : 150);
        pthread_mutex_lock(&lock);
        made++, over = n == 19;
        pthread_cond_signal(&change);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    struct timespec t;
    pthread_t p;
    int seen = 0;

    note("main");
    pthread_create(&p, NULL, produce, NULL);
    pthread_mutex_lock(&lock);
    while (!over || seen < made) {
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_sec += 35;
        if (seen == made && pthread_cond_timedwait(&change, &lock, &t))
            continue;
        printf("record %d\n", ++seen);
        fflush(stdout);
    }
    pthread_mutex_unlock(&lock);
    pthread_join(p, NULL);
}
