/* Rank 0 waits for a shared semaphore that rank 2 posts; rank 2 reads an eventfd that nobody writes. */
#include "rank.h"
#include <fcntl.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
int main(void)
{
    char name[64];
    uint64_t v;
    sem_t *s;
    int ev = eventfd(0, 0);
    join_ranks();
    snprintf(name, sizeof name, "/corpus_s_%s", getenv("MASTER_PORT"));
    s = sem_open(name, O_CREAT, 0600, 0);
    sum_ranks(1);
    sem_unlink(name);
    for (int i = 0; i < 1000; i++) {
        usleep(250000);
        if (my_rank == 2) {
            if (i == 15 && read(ev, &v, sizeof v) < 0)
                return 1;
            sem_post(s);
        }
        if (my_rank == 0)
            sem_wait(s);
        sum_ranks(1);
        say_step(i);
    }
}
