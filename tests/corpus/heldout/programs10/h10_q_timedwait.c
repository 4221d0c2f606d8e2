// A reader thread is stuck on one sample. main waits for it for a minute by a condition with a deadline, and takes another sample instead.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int wanted = -1, ready = -1;

static void *reader(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (wanted == ready)
            pthread_cond_wait(&change, &lock);
        int k = wanted;
        pthread_mutex_unlock(&lock);
        if (k == 20)
            sleep(61);
        usleep(100000);
        pthread_mutex_lock(&lock);
        ready = k;
        pthread_cond_broadcast(&change);
    }
    return NULL;
}

static int want(int k) {
    struct timespec end;
    int late = 0;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    pthread_mutex_lock(&lock);
    wanted = k;
    pthread_cond_broadcast(&change);
    while (ready != k && !late)
        late = pthread_cond_timedwait(&change, &lock, &end);
    pthread_mutex_unlock(&lock);
    return late;
}

int main(void) {
    pthread_t t;
    FILE *f = getenv("CORPUS_ROLES") ? fopen(getenv("CORPUS_ROLES"), "a") : NULL;
    if (f) {
        fprintf(f, "main %d\n", (int)getpid());
        fclose(f);
    }
    pthread_create(&t, NULL, reader, NULL);
    for (int k = 0; k < 50; k++) {
        printf(want(k) ? "sample %d was skipped\n" : "sample %d\n", k);
        fflush(stdout);
    }
    return 0;
}
