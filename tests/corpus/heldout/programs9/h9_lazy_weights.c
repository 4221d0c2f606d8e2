// Weights are brought in page by page when they are touched (userfaultfd). The thread that brings them has ended at the end of its file; a
// page that is touched after that never comes.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64, IN_FILE = 40 };
static int faults;

static void *pager(void *unused) {
    static char page[PAGE] __attribute__((aligned(PAGE)));
    for (int k = 0; k < IN_FILE; k++) {
        struct uffd_msg what;
        if (read(faults, &what, sizeof what) != sizeof what)
            exit(1);
        memset(page, k, PAGE);
        struct uffdio_copy copy = {.src = (unsigned long)page, .len = PAGE};
        copy.dst = what.arg.pagefault.address & ~(unsigned long)(PAGE - 1);
        ioctl(faults, UFFDIO_COPY, &copy);
    }
    return unused;
}

int main(void) {
    const char *path = getenv("CORPUS_ROLES");
    FILE *f = path ? fopen(path, "a") : NULL;
    pthread_t thread;
    if (f) {
        fprintf(f, "main %d\n", getpid());
        fclose(f);
    }
    faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1); // 1: for faults of programs only
    struct uffdio_api api = {.api = UFFD_API};
    char *weights = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_register all = {.range = {.start = (unsigned long)weights, .len = PAGES * PAGE}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (faults < 0 || ioctl(faults, UFFDIO_API, &api) || ioctl(faults, UFFDIO_REGISTER, &all))
        return 1;
    pthread_create(&thread, NULL, pager, NULL);
    for (int k = 0; k < PAGES; k++) {
        usleep(100000);
        printf("layer %d sum %d\n", k, weights[k * PAGE]);
        fflush(stdout);
    }
    return 0;
}
