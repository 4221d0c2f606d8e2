/* A mutex shared by the ranks in a mapped file; rank 1 is killed inside it. Start with --keep. */
#include "rank.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
struct shared { volatile int ready; pthread_mutex_t m; int x; };
int main(void)
{
    char path[256];
    struct shared *s;
    int fd;
    join_ranks();
    snprintf(path, sizeof path, "/dev/shm/corpus_m_%s", getenv("MASTER_PORT"));
    fd = open(path, O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, sizeof *s))
        return 1;
    s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (my_rank == 0) {
        pthread_mutexattr_t a;
        pthread_mutexattr_init(&a);
        pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
        pthread_mutex_init(&s->m, &a);
        s->ready = 1;
    }
    while (!s->ready)
        usleep(10000);
    sleep(1);
    unlink(path);
    for (int i = 0; i < 1000; i++) {
        usleep(250000);
        pthread_mutex_lock(&s->m);
        s->x++;
        if (my_rank == 1 && i == 14)
            raise(SIGKILL);
        say_step(i);
        pthread_mutex_unlock(&s->m);
    }
}
