// malloc without free in C
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void role(const char *name) { FILE *f = fopen(getenv("CORPUS_ROLES"), "a"); fprintf(f, "%s %d\n", name, getpid()); fclose(f); }
int main(void) {
    role("main");
    for (int i = 0; i < 4000; i++) {
        char *p = malloc(1 << 20);
        memset(p, i | 1, 1 << 20);
        if (i % 20 == 0) printf("step %d\n", i / 20), fflush(stdout);
        usleep(10000);
    }
    return 0;
}
