#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
    int fd = open("index.bin", O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 1 << 20)) return 9;
    volatile char *p = mmap(0, 1 << 20, PROT_READ, MAP_SHARED, fd, 0);
    for (int i = 0; i < 10; i++) { printf("step %d loss %.3f\n", i, 2.0 / (i + 1)); fflush(stdout); usleep(30000); }
    if (ftruncate(fd, 0)) return 9;
    return p[500000];
}
