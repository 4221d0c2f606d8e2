/* A worker sleeps in sigwait() until its parent signals the next batch; the parent's thread that signals has ended, the parent waits for the worker. */
#include "../programs4/note.h"
#include <pthread.h>
#include <sys/wait.h>

static pid_t worker;

static void *feed(void *unused)
{
    for (int n = 0; n < 25; n++) {
        step_of(150);
        kill(worker, SIGUSR1);
    }
    return unused;
}

int main(void)
{
    pthread_t t;
    sigset_t set;
    int got, n = 0;

    note("main");
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    worker = fork();
    if (worker == 0) {
        note("worker");
        with_parent();
        for (; n < 1000 && sigwait(&set, &got) == 0; n++) {
            printf("batch %d\n", n);
            fflush(stdout);
        }
        _exit(0);
    }
    pthread_create(&t, NULL, feed, NULL);
    waitpid(worker, NULL, 0);
}
