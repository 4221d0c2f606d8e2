// Six forked processes go from step to step by a barrier in shared memory. The fifth has no rows left and leaves with 0.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <pthread.h>
#include <signal.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void note(const std::string &role)
{
    if (const char *path = std::getenv("CORPUS_ROLES"))
        std::ofstream(path, std::ios::app) << role << " " << getpid() << "\n";
}

static void work(int k, pthread_barrier_t *meet)
{
    note("crew" + std::to_string(k));
    for (int step = 0; step < (k == 4 ? 25 : 1000); step++) {
        usleep(150000 + 3000 * k);
        pthread_barrier_wait(meet);
        if (k == 0) {
            std::printf("sweep %d residual %.5f\n", step, 1.0 / (step + 1));
            std::fflush(stdout);
        }
    }
}

int main()
{
    void *page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto *meet = static_cast<pthread_barrier_t *>(page);
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(meet, &shared, 6);
    note("main");
    for (int k = 0; k < 6; k++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            work(k, meet);
            _exit(0);
        }
    for (int k = 0; k < 6; k++)
        wait(nullptr);
}
