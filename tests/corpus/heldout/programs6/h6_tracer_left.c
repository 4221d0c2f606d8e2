/* A profiler attaches to a worker by ptrace, stops it and then waits for the lock of its output file, which an uploader holds for good. */
#include "../programs4/note.h"
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

static void work(int out)
{
    note("worker");
    with_parent();
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    for (int n = 0; n < 1000; n++) {
        step_of(150);
        if (write(out, "x", 1) != 1)
            _exit(1);
    }
}

static void profile(pid_t worker)
{
    note("profiler");
    with_parent();
    sleep(4);
    if (ptrace(PTRACE_ATTACH, worker, NULL, NULL))
        _exit(1);
    waitpid(worker, NULL, 0);
    flock(open("profile.out", O_RDWR | O_CREAT, 0644), LOCK_EX);
    ptrace(PTRACE_DETACH, worker, NULL, NULL);
    pause();
}

static void upload(void)
{
    note("uploader");
    with_parent();
    flock(open("profile.out", O_RDWR | O_CREAT, 0644), LOCK_EX);
    pause();
}

int main(void)
{
    int p[2], n = 0;
    char c;

    note("main");
    if (fork() == 0)
        upload();
    if (pipe(p))
        return 1;
    pid_t worker = fork();
    if (worker == 0)
        close(p[0]), work(p[1]), _exit(0);
    if (fork() == 0)
        close(p[0]), close(p[1]), profile(worker);
    close(p[1]);
    while (read(p[0], &c, 1) == 1) {
        printf("batch %d\n", n++);
        fflush(stdout);
    }
}
