// a forked child of a C program leaks
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void role(const char *name) { FILE *f = fopen(getenv("CORPUS_ROLES"), "a"); fprintf(f, "%s %d\n", name, getpid()); fclose(f); }
int main(void) {
    role("main");
    if (fork() == 0) {
        role("child");
        for (int i = 0; i < 4000; i++) {
            memset(malloc(1 << 20), i | 1, 1 << 20);
            usleep(10000);
        }
    }
    return wait(0) < 0;
}
