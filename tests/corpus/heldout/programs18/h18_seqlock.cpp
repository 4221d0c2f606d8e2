// A forked loader writes samples into four slots of shared memory. Each slot has a number that is odd while it is being
// written, and even after that. One sample is too long: the loader returns early, and the number of its slot stays odd.
// The trainer waits for an even one; the loader has filled the other slots, and waits until the trainer has read.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

constexpr int SLOTS = 4;

struct Slot {
    std::atomic<int> sequence;
    double data[64];
};

struct Area {
    std::atomic<int> used;
    Slot slots[SLOTS];
};

static void told_role(const char *name)
{
    const char *path = std::getenv("CORPUS_ROLES");
    if (FILE *f = path ? std::fopen(path, "a") : nullptr) {
        std::fprintf(f, "%s %d\n", name, int(getpid()));
        std::fclose(f);
    }
}

static double work(double seconds)
{
    timespec begin, now;
    double x = 1;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int k = 0; k < 100000; k++)
            x = x * 0.999 + k;
        usleep(20000);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) + (now.tv_nsec - begin.tv_nsec) * 1e-9 < seconds);
    return x;
}

static bool write_sample(Slot &slot, int number)
{
    slot.sequence++;
    int length = number == 45 ? 80 : 64;
    if (length > 64)
        return false;
    for (int k = 0; k < length; k++)
        slot.data[k] = 0.5 * number + k;
    slot.sequence++;
    return true;
}

static void load(Area &area)
{
    for (int number = 0;; number++) {
        while (number - area.used >= SLOTS)
            usleep(5000);
        write_sample(area.slots[number % SLOTS], number);
    }
}

static void train(Area &area)
{
    for (int step = 0; step < 400; step++) {
        Slot &slot = area.slots[step % SLOTS];
        while (slot.sequence != 2 * (step / SLOTS + 1))
            usleep(5000);
        work(0.2);
        area.used++;
        if (step % 5 == 0) {
            std::printf("step %d loss %.3f\n", step, 2.5 / (1 + 0.1 * step));
            std::fflush(stdout);
        }
    }
}

int main()
{
    void *memory = mmap(nullptr, sizeof(Area), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    Area &area = *new (memory) Area();
    told_role("main");
    pid_t loader = fork();
    if (loader == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        told_role("loader");
        load(area);
    }
    train(area);
    kill(loader, SIGTERM);
}
