// A cache process has a lease on a shard and does not answer; who opens the shard to write waits in open until the kernel breaks the lease, 45 s later.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static void role(const char *name, int pid) {
    FILE *f = getenv("CORPUS_ROLES") ? fopen(getenv("CORPUS_ROLES"), "a") : NULL;
    if (f) {
        fprintf(f, "%s %d\n", name, pid);
        fclose(f);
    }
}

static void cache(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGIO, SIG_IGN);
    int fd = open("shard.bin", O_RDONLY);
    if (fd < 0 || fcntl(fd, F_SETLEASE, F_RDLCK))
        _exit(1);
    for (;;)
        pause();
}

static void steps(int from, int to) {
    for (int k = from; k < to; k++) {
        usleep(150000);
        printf("step %d loss %.3f\n", k, 2.0 / (1 + k));
        fflush(stdout);
    }
}

int main(void) {
    role("main", getpid());
    close(open("shard.bin", O_CREAT | O_WRONLY, 0600));
    pid_t pid = fork();
    if (pid == 0)
        cache();
    role("cache", pid);
    steps(0, 50);
    int fd = open("shard.bin", O_WRONLY);
    if (fd < 0)
        return 1;
    steps(50, 90);
    kill(pid, SIGKILL);
    return 0;
}
