/* A table under a pthread rwlock that prefers writers. A reader asks for the lock again while a writer waits. */
#define _GNU_SOURCE
#include "note.h"
#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t table;

static int size(void)
{
    pthread_rwlock_rdlock(&table);
    pthread_rwlock_unlock(&table);
    return 100;
}

static void *update(void *none)
{
    for (;;) {
        step_of(150);
        pthread_rwlock_wrlock(&table);
        step_of(5);
        pthread_rwlock_unlock(&table);
    }
    return none;
}

int main(void)
{
    pthread_rwlockattr_t a;
    pthread_t t;

    note("main");
    pthread_rwlockattr_init(&a);
    pthread_rwlockattr_setkind_np(&a, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&table, &a);
    pthread_create(&t, NULL, update, NULL);
    for (int i = 0; i < 1000; i++) {
        pthread_rwlock_rdlock(&table);
        step_of(i < 12 ? 50 : 400);
        int n = i < 12 ? 100 : size();
        pthread_rwlock_unlock(&table);
        printf("lookup %d of %d\n", i, n);
        fflush(stdout);
        step_of(150);
    }
    return 0;
}
