/* A thread was cancelled in a sleep under the mutex of the statistics; the main thread wants that mutex at its next step. */
#include "../programs4/note.h"
#include <pthread.h>

static pthread_mutex_t statistics = PTHREAD_MUTEX_INITIALIZER;

static void *report(void *unused)
{
    for (;;) {
        usleep(300000);
        pthread_mutex_lock(&statistics);
        usleep(200000); /* writes a report */
        pthread_mutex_unlock(&statistics);
    }
    return unused;
}

int main(void)
{
    pthread_t t;

    note("main");
    pthread_create(&t, NULL, report, NULL);
    for (int step = 0; step < 1000; step++) {
        step_of(100);
        if (step == 25) {
            while (pthread_mutex_trylock(&statistics) == 0) { /* until the report is being written */
                pthread_mutex_unlock(&statistics);
                usleep(1000);
            }
            pthread_cancel(t);
            pthread_join(t, NULL);
        }
        pthread_mutex_lock(&statistics);
        printf("step %d\n", step);
        fflush(stdout);
        pthread_mutex_unlock(&statistics);
    }
}
