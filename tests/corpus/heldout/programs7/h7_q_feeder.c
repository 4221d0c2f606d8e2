/* Reads records from its child by a pipe; the child sleeps for 66 s, as its source has nothing before the full minute. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

static void feed(int out)
{
    for (int n = 0; n < 40; n++) {
        usleep(150000);
        if (n == 20)
            sleep(66);
        if (write(out, &n, sizeof n) != sizeof n)
            _exit(1);
    }
    _exit(0);
}

int main(void)
{
    int ends[2], n;
    if (pipe(ends))
        return 1;
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        feed(ends[1]);
    }
    close(ends[1]);
    while (read(ends[0], &n, sizeof n) == sizeof n) {
        printf("record %d\n", n);
        fflush(stdout);
    }
    wait(NULL);
    return 0;
}
