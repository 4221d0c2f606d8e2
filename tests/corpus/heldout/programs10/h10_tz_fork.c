// A thread writes the time of day into a log while main forks a helper now and then, which writes the time as well. The lock of the time zones is the
// C library's own; a helper that is forked at the wrong moment finds it taken for ever.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void role(const char *name) {
    FILE *f = getenv("CORPUS_ROLES") ? fopen(getenv("CORPUS_ROLES"), "a") : NULL;
    if (f) {
        fprintf(f, "%s %d\n", name, (int)getpid());
        fclose(f);
    }
}

static void *stamp(void *unused) {
    (void)unused;
    for (;;) {
        for (int k = 0; k < 1500; k++) {
            time_t now = time(NULL);
            struct tm t;
            localtime_r(&now, &t);
        }
        usleep(2000);
    }
}

static void helper(void) {
    time_t now = time(NULL);
    struct tm t;
    char text[64];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    localtime_r(&now, &t);
    strftime(text, sizeof text, "%H:%M:%S", &t);
    printf("%s shard uploaded\n", text);
    fflush(stdout);
    _exit(0);
}

int main(void) {
    pthread_t t;
    role("main");
    setenv("TZ", "Europe/Vienna", 1);
    pthread_create(&t, NULL, stamp, NULL);
    for (int k = 0;; k++) {
        pid_t pid = fork();
        if (pid == 0)
            helper();
        FILE *f = getenv("CORPUS_ROLES") ? fopen(getenv("CORPUS_ROLES"), "a") : NULL;
        if (f) {
            fprintf(f, "helper %d\n", (int)pid);
            fclose(f);
        }
        waitpid(pid, NULL, 0);
        usleep(1000 + k % 7 * 700);
    }
}
