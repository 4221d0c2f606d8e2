// A loader, forked, hands batches to its trainer by a ring of eight places in shared memory, which is empty where head
// and tail are the same. Bursts grow with the epochs. The loader does not ask whether there is room: a burst of eight
// brings head back to tail, and the trainer takes the full ring for an empty one. The loader waits until it is read.
// With "slow": bursts of four, and the loader works for 48 s on one of them.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

constexpr unsigned places = 8;

struct ring {
    std::atomic<unsigned> head, tail, read;
    int batch[places];
};

static void told_role(const char *role)
{
    if (const char *path = getenv("CORPUS_ROLES")) {
        FILE *f = fopen(path, "a");
        fprintf(f, "%s %d\n", role, (int)getpid());
        fclose(f);
    }
}

static void work(double seconds)
{
    volatile double x = 1;
    for (double t = 0; t < seconds; t += 0.1) {
        for (int k = 0; k < 2000000; k++)
            x = x * 0.999 + k;
        usleep(90000);
    }
}

static void load(ring *r, bool slow)
{
    unsigned written = 0;
    for (int epoch = 0; epoch < (slow ? 12 : 100); epoch++) {
        unsigned burst = epoch < 8 || slow ? 4 : 8;
        work(slow && epoch == 8 ? 48 : 0.4);
        for (unsigned k = 0; k < burst; k++) {
            r->batch[r->head % places] = epoch;
            r->head = (r->head + 1) % places;
            written++;
        }
        while (r->read != written)
            usleep(20000);
    }
}

static int take(ring *r)
{
    while (r->head == r->tail)
        usleep(20000);
    int batch = r->batch[r->tail];
    r->tail = (r->tail + 1) % places;
    r->read++;
    return batch;
}

int main(int argc, char **argv)
{
    bool slow = argc > 1 && !strcmp(argv[1], "slow");
    void *at = mmap(nullptr, sizeof(ring), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ring *r = new (at) ring{};
    told_role("main");
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        told_role("loader");
        load(r, slow);
        return 0;
    }
    for (int step = 0; step < (slow ? 48 : 400); step++) {
        take(r);
        work(0.2);
        if (step % 5 == 0) {
            printf("step %d loss %.3f\n", step, 2.5 / (1 + 0.1 * step));
            fflush(stdout);
        }
    }
    wait(nullptr);
}
