// main waits for SIGUSR1 by sigwait, which tells that the next chunk is in memory. A thread of a library has not blocked the signal, whose handler does
// nothing: a signal that comes while main validates, and does not wait, is given to that thread.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void role(const char *name, int pid) {
    FILE *f = getenv("CORPUS_ROLES") ? fopen(getenv("CORPUS_ROLES"), "a") : NULL;
    if (f) {
        fprintf(f, "%s %d\n", name, pid);
        fclose(f);
    }
}

static void nothing(int sig) {
    (void)sig;
}

static void *library(void *unused) {
    (void)unused;
    for (;;)
        pause();
}

static void feeder(pid_t to) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int k = 0;; k++) {
        int sig;
        sigset_t next;
        usleep(300000);
        kill(to, SIGUSR1);
        sigemptyset(&next);
        sigaddset(&next, SIGUSR2);
        sigwait(&next, &sig);
    }
}

int main(void) {
    pthread_t t;
    sigset_t set;
    int sig;
    role("main", getpid());
    signal(SIGUSR1, nothing);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    pid_t me = getpid(), pid = fork();
    if (pid == 0)
        feeder(me);
    role("feeder", pid);
    sigdelset(&set, SIGUSR2);
    for (int k = 0; k < 100; k++) {
        if (k == 9) { // the library is loaded with the first validation
            pthread_sigmask(SIG_UNBLOCK, &set, NULL);
            pthread_create(&t, NULL, library, NULL);
            pthread_sigmask(SIG_BLOCK, &set, NULL);
        }
        sigwait(&set, &sig);
        printf("chunk %d\n", k);
        fflush(stdout);
        kill(pid, SIGUSR2);
        if (k % 10 == 9)
            usleep(700000); // validation
    }
    return 0;
}
