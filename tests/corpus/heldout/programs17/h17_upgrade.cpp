// Two threads of a trainer, one that trains and one that averages, read the weights under a shared lock. Every tenth
// step the averaging thread finds them old, and at step 40 both do at once: each wants the lock for itself to write,
// while it still has it as a reader, and waits for the other one to leave.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <thread>
#include <unistd.h>

static pthread_rwlock_t weights_lock = PTHREAD_RWLOCK_INITIALIZER;
static double weights[64], average[64];
static std::atomic<int> step{0};

static void pause_for(int ms)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

static bool old_average(int now)
{
    return now == 40;
}

static void update_average()
{
    pthread_rwlock_wrlock(&weights_lock);
    for (int k = 0; k < 64; k++)
        average[k] = 0.9 * average[k] + 0.1 * weights[k];
    pthread_rwlock_unlock(&weights_lock);
}

static void keep_average()
{
    for (;;) {
        pthread_rwlock_rdlock(&weights_lock);
        int now = step;
        pause_for(150);
        if (old_average(now))
            update_average();
        pthread_rwlock_unlock(&weights_lock);
        pause_for(50);
    }
}

static void train_step(int now)
{
    pthread_rwlock_rdlock(&weights_lock);
    double loss = 0;
    for (double w : weights)
        loss += w * w;
    pause_for(200);
    if (now == 40) {  // the rate has changed: weights are scaled
        pthread_rwlock_wrlock(&weights_lock);
        for (double &w : weights)
            w *= 0.5;
        pthread_rwlock_unlock(&weights_lock);
    }
    pthread_rwlock_unlock(&weights_lock);
    if (now % 5 == 0) {
        printf("step %d loss %.3f\n", now, loss + 2.5 / (1 + 0.1 * now));
        fflush(stdout);
    }
}

int main()
{
    if (const char *path = getenv("CORPUS_ROLES")) {
        FILE *f = fopen(path, "a");
        fprintf(f, "main %d\n", (int)getpid());
        fclose(f);
    }
    std::thread averaging(keep_average);
    for (; step < 400; step++)
        train_step(step);
    averaging.join();
}
