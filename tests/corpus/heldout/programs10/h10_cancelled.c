#define _GNU_SOURCE
// A read that takes too long is cancelled by ending its thread. It held the cache's lock, which nobody can take any more.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER;

static void role(const char *name) {
    FILE *f = getenv("CORPUS_ROLES") ? fopen(getenv("CORPUS_ROLES"), "a") : NULL;
    if (f) {
        fprintf(f, "%s %d\n", name, (int)getpid());
        fclose(f);
    }
}

static void *reader(void *at) {
    pthread_mutex_lock(&cache);
    usleep(*(int *)at == 17 ? 60000000 : 50000);
    pthread_mutex_unlock(&cache);
    return NULL;
}

int main(void) {
    role("main");
    for (int k = 0; k < 100; k++) {
        pthread_t t;
        struct timespec end;
        pthread_create(&t, NULL, reader, &k);
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_sec += 2;
        if (pthread_timedjoin_np(t, NULL, &end)) {
            printf("read %d timed out, skipped\n", k);
            pthread_cancel(t);
            pthread_join(t, NULL);
        }
        pthread_mutex_lock(&cache);
        printf("sample %d\n", k);
        fflush(stdout);
        pthread_mutex_unlock(&cache);
    }
    return 0;
}
