// A process that writes its batches to a child: the child has read enough and leaves, the next write ends the parent.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    int ends[2];
    char batch[512];
    memset(batch, 'x', sizeof batch);
    if (pipe(ends))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        for (int k = 0; k < 25; k++)
            if (read(ends[0], batch, sizeof batch) <= 0)
                _exit(1);
        _exit(0);
    }
    close(ends[0]);
    for (int step = 0; step < 60; step++) {
        if (step % 5 == 0) {
            printf("step %d\n", step);
            fflush(stdout);
        }
        usleep(100000);
        if (write(ends[1], batch, sizeof batch) < 0)
            return 1;
    }
    waitpid(child, NULL, 0);
}
