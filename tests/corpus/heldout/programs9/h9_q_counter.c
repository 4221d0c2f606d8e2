// Reads a counter of the kernel (eventfd) that a child raises for each part; one part takes it 62 s.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
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

int main(void) {
    int ready = eventfd(0, EFD_SEMAPHORE);
    role("main", getpid());
    pid_t packer = fork();
    if (!packer) {
        for (int k = 0; k < 20; k++) {
            k == 10 ? (void)sleep(62) : (void)usleep(200000);
            if (eventfd_write(ready, 1))
                _exit(1);
        }
        _exit(0);
    }
    role("packer", packer);
    for (int k = 0; k < 20; k++) {
        eventfd_t one;
        if (eventfd_read(ready, &one))
            return 1;
        printf("part %d is packed\n", k);
        fflush(stdout);
    }
    return waitpid(packer, NULL, 0) == packer ? 0 : 1;
}
