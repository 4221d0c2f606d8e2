/* A child fills four slots in shared memory, two semaphores count them. For a damaged record main goes on without giving the slot back: after four none is left. */
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

struct ring {
    sem_t empty, full;
    unsigned row[4];
};

static void note(const char *role)
{
    const char *path = getenv("CORPUS_ROLES");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (f) {
        fprintf(f, "%s %d\n", role, getpid());
        fclose(f);
    }
}

static void fill(struct ring *r)
{
    note("filler");
    for (unsigned n = 0;; n++) {
        sem_wait(&r->empty);
        r->row[n % 4] = n;
        sem_post(&r->full);
    }
}

int main(void)
{
    struct ring *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(&r->empty, 1, 4);
    sem_init(&r->full, 1, 0);
    note("main");
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        fill(r);
    }
    for (unsigned n = 0;; n++) {
        sem_wait(&r->full);
        usleep(150000);
        if (r->row[n % 4] % 8 == 7)
            continue;
        printf("%u rows\n", n + 1);
        fflush(stdout);
        sem_post(&r->empty);
    }
}
