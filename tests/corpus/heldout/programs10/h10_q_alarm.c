// A collector of samples sleeps in sigsuspend until its timer of a minute is over.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void nothing(int sig) {
    (void)sig;
}

int main(void) {
    sigset_t all, none;
    FILE *f = getenv("CORPUS_ROLES") ? fopen(getenv("CORPUS_ROLES"), "a") : NULL;
    if (f) {
        fprintf(f, "main %d\n", (int)getpid());
        fclose(f);
    }
    signal(SIGALRM, nothing);
    sigemptyset(&none);
    sigemptyset(&all);
    sigaddset(&all, SIGALRM);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (int k = 0; k < 12; k++) {
        alarm(k == 6 ? 55 : 1);
        sigsuspend(&none);
        printf("collected %d episodes\n", 100 * k);
        fflush(stdout);
    }
    return 0;
}
