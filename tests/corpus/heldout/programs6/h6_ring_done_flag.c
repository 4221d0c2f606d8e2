/* A ring in shared memory between forked processes, with a process-shared mutex and conditions; the producer left without setting done. */
#include "../programs4/note.h"
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct ring {
    pthread_mutex_t lock;
    pthread_cond_t change;
    int head, tail, done, item[8];
};

static void produce(struct ring *r)
{
    note("producer");
    for (int n = 0; n < 40; n++) {
        step_of(60);
        pthread_mutex_lock(&r->lock);
        while (r->head - r->tail == 8)
            pthread_cond_wait(&r->change, &r->lock);
        r->item[r->head++ % 8] = n;
        pthread_cond_broadcast(&r->change);
        pthread_mutex_unlock(&r->lock);
    }
    _exit(0); /* the early return forgets done */
}

int main(void)
{
    struct ring *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t m;
    pthread_condattr_t c;

    note("main");
    pthread_mutexattr_init(&m);
    pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&r->lock, &m);
    pthread_condattr_init(&c);
    pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&r->change, &c);
    if (fork() == 0)
        produce(r);
    pthread_mutex_lock(&r->lock);
    while (!r->done || r->tail < r->head) {
        while (r->tail == r->head && !r->done)
            pthread_cond_wait(&r->change, &r->lock);
        printf("frame %d\n", r->item[r->tail++ % 8]);
        fflush(stdout);
        pthread_cond_broadcast(&r->change);
    }
    pthread_mutex_unlock(&r->lock);
    wait(NULL);
}
