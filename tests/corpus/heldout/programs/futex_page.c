/* A generation count in a shared page with futex; rank 3 waits for a signal. */
#define _GNU_SOURCE
#include "rank.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
struct page { int count, gen; };
static void meet(struct page *p, int n)
{
    int g = __atomic_load_n(&p->gen, __ATOMIC_SEQ_CST);
    if (__atomic_add_fetch(&p->count, 1, __ATOMIC_SEQ_CST) == n) {
        p->count = 0;
        __atomic_add_fetch(&p->gen, 1, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &p->gen, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        return;
    }
    while (__atomic_load_n(&p->gen, __ATOMIC_SEQ_CST) == g)
        syscall(SYS_futex, &p->gen, FUTEX_WAIT, g, NULL, NULL, 0);
}
int main(void)
{
    char path[128];
    sigset_t none;
    int fd;
    struct page *p;
    join_ranks();
    snprintf(path, sizeof path, "/dev/shm/corpus_f_%s", getenv("MASTER_PORT"));
    fd = open(path, O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 4096))
        return 1;
    p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    sum_ranks(1);
    unlink(path);
    sigemptyset(&none);
    for (int i = 0; i < 1000; i++) {
        usleep(250000);
        if (my_rank == 3 && i == 15)
            sigsuspend(&none);
        meet(p, n_ranks);
        say_step(i);
    }
}
