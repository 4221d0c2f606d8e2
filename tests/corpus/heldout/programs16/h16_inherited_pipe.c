// Main deals numbers of batches to two tokenizers over pipes, and closes them one after the other at the end. The
// second tokenizer was forked when main had the first one's pipe open, and has kept its end: the first one never sees
// the end of its input. Main waits for it before it closes the second one's pipe.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void told_role(const char *role, int pid)
{
    const char *path = getenv("CORPUS_ROLES");
    if (!path)
        return;
    FILE *f = fopen(path, "a");
    fprintf(f, "%s %d\n", role, pid);
    fclose(f);
}

static void tokenize(int in)
{
    int batch;
    while (read(in, &batch, sizeof batch) == sizeof batch)
        usleep(30000);
}

static pid_t start(int *to, const char *name)
{
    int ends[2];
    if (pipe(ends))
        exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[1]);
        tokenize(ends[0]);
        _exit(0);
    }
    close(ends[0]);
    *to = ends[1];
    told_role(name, pid);
    return pid;
}

int main(void)
{
    int to[2];
    told_role("main", getpid());
    pid_t pids[2] = { start(&to[0], "tokenizer0"), start(&to[1], "tokenizer1") };
    for (int step = 0; step < 60; step++) {
        if (write(to[step % 2], &step, sizeof step) < 0)
            return 1;
        usleep(150000);
        if (step % 5 == 0) {
            printf("step %d\n", step);
            fflush(stdout);
        }
    }
    for (int k = 0; k < 2; k++) {
        close(to[k]);
        waitpid(pids[k], NULL, 0);
    }
    puts("done");
}
