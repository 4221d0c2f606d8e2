#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
int main(void) {
    struct rlimit r = { 300 << 20, 300 << 20 };
    setrlimit(RLIMIT_AS, &r);
    for (int i = 0;; i++) {
        char *p = malloc(16 << 20);
        if (!p) { fprintf(stderr, "arena: cannot allocate 16777216 bytes, out of memory\n"); exit(12); }
        memset(p, 1, 16 << 20); printf("step %d loss 1.2\n", i); fflush(stdout); usleep(20000);
    }
}
