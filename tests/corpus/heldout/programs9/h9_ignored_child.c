// Started by something that ignores SIGCHLD, which is inherited. Its child ends, no signal comes, and it waits for one.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void role(const char *name, int pid) {
    const char *path = getenv("CORPUS_ROLES");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (f) {
        fprintf(f, "%s %d\n", name, pid);
        fclose(f);
    }
}

static void supervise(void) {
    sigset_t set;
    int sig;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    pid_t trainer = fork();
    if (!trainer) {
        for (int s = 0; s < 20; s++) {
            usleep(200000);
            printf("step %d loss %.3f\n", s, 2.0 / (s + 1));
            fflush(stdout);
        }
        _exit(0);
    }
    role("trainer", trainer);
    while (sigwait(&set, &sig) == 0 && sig == SIGCHLD)
        if (waitpid(trainer, NULL, WNOHANG) == trainer)
            break;
    puts("trainer has ended, uploading");
}

int main(int argc, char **argv) {
    if (argc < 2) {
        role("main", getpid());
        signal(SIGCHLD, SIG_IGN); // as the daemon that starts it
        execl("/proc/self/exe", argv[0], "supervise", (char *)NULL);
        return 1;
    }
    supervise();
    return 0;
}
