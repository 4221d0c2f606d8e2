#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
    int fd = open("index.bin", O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 65536))
        return 2;
    volatile char *map = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (int n = 0; n < 16; n++) {
        map[4096 * n] = 1;
        printf("indexed block %d\n", n);
        fflush(stdout);
        usleep(100000);
        if (n == 9 && ftruncate(fd, 8192))
            return 3;
    }
    return 0;
}
