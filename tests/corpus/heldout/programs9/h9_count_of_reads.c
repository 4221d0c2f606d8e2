// Optimizer states are read from a file by the kernel's asynchronous reads. The last group is smaller, and as many ends are waited for as always.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { GROUP = 4, PARTS = 38, SIZE = 4096 };

static int begin(aio_context_t context, int file, char *to, int first) {
    static struct iocb jobs[GROUP];
    int count = PARTS - first < GROUP ? PARTS - first : GROUP;
    for (int k = 0; k < count; k++) {
        struct iocb *job = &jobs[k];
        memset(job, 0, sizeof *job);
        job->aio_lio_opcode = IOCB_CMD_PREAD;
        job->aio_fildes = (unsigned)file;
        job->aio_buf = (unsigned long)(to + k * SIZE);
        job->aio_nbytes = SIZE;
        job->aio_offset = (long long)(first + k) * SIZE;
        if (syscall(SYS_io_submit, context, 1, &job) != 1)
            exit(1);
    }
    return count;
}

int main(void) {
    static char data[GROUP * SIZE];
    const char *path = getenv("CORPUS_ROLES");
    FILE *f = path ? fopen(path, "a") : NULL;
    aio_context_t context = 0;
    int file = open("states.bin", O_RDWR | O_CREAT, 0644);
    if (f) {
        fprintf(f, "main %d\n", getpid());
        fclose(f);
    }
    if (file < 0 || ftruncate(file, PARTS * SIZE) || syscall(SYS_io_setup, 32, &context))
        return 1;
    for (int k = 0; k < PARTS; k += GROUP) {
        struct io_event ends[GROUP];
        usleep(250000);
        begin(context, file, data, k);
        if (syscall(SYS_io_getevents, context, GROUP, GROUP, ends, NULL) != GROUP)
            return 1;
        printf("swapped in %d of %d\n", k + GROUP, PARTS);
        fflush(stdout);
    }
    return 0;
}
