/* A mapped dataset is cut off by another process while it is read. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 100 };

int main(void)
{
    int fd = open("tokens.bin", O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || ftruncate(fd, PAGES * PAGE))
        return 1;
    volatile char *data = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
    int sum = 0;
    for (int step = 0; step < PAGES; step++) {
        if (step % 5 == 0) {
            printf("step %d loss %.4f\n", step, 2.5 / (1 + 0.1 * step));
            fflush(stdout);
        }
        usleep(100000);
        if (step == 60 && fork() == 0)
            _exit(ftruncate(fd, 75 * PAGE) != 0);
        sum += data[step * PAGE];
    }
    return sum;
}
