#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
int main(void) {
    struct rlimit r = { 4096, 4096 };
    for (int i = 0; i < 10; i++) { printf("step %d loss %.3f\n", i, 2.0 / (i + 1)); fflush(stdout); usleep(30000); }
    setrlimit(RLIMIT_FSIZE, &r);
    FILE *f = tmpfile();
    for (int i = 0; i < 10000; i++) fputc('x', f);
    fclose(f);
    return 0;
}
