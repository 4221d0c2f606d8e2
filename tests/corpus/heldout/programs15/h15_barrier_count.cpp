// Four threads prepare a batch each and meet at a barrier of four after every step. The dataset has a shard less
// than there are threads in the second epoch: the one without leaves, the others wait at the barrier, main for them.
#include <pthread.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static pthread_barrier_t meet;

static void told_role(const char *role)
{
    if (const char *path = getenv("CORPUS_ROLES")) {
        FILE *f = fopen(path, "a");
        fprintf(f, "%s %d\n", role, (int)getpid());
        fclose(f);
    }
}

static int batches(int epoch, int thread)
{
    int shards = epoch == 0 ? 8 : 7;
    int mine = 0;
    for (int s = thread; s < shards; s += 4)
        mine += 20;
    return mine;
}

static void prepare(int thread)
{
    for (int epoch = 0, step = 0; epoch < 3; epoch++)
        for (int b = batches(epoch, thread); b > 0; b--, step++) {
            usleep(130000);
            pthread_barrier_wait(&meet);
            if (thread == 0 && step % 5 == 0) {
                printf("step %d loss %.4f\n", step, 2.5 / (1 + 0.1 * step));
                fflush(stdout);
            }
            if (epoch == 1 && thread == 3 && b == 1)
                return;
        }
}

int main()
{
    told_role("main");
    pthread_barrier_init(&meet, nullptr, 4);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back(prepare, t);
    for (auto &t : threads)
        t.join();
    puts("training done");
}
