// Four threads meet at a barrier after each block; the blocks take longer and longer, the last one 45 s. Nothing is printed meanwhile.
#include "../programs4/note.h"
#include <iostream>
#include <pthread.h>
#include <thread>
#include <vector>

static pthread_barrier_t meet;

static void block(int k)
{
    for (int seconds : {2, 20, 45}) {
        struct timespec begin, now;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        do {
            if (k)
                step_of(20); // these wait for their device mostly
            else
                for (volatile int i = 0; i < 10000000; i++)
                    ;
            clock_gettime(CLOCK_MONOTONIC, &now);
        } while (now.tv_sec - begin.tv_sec < seconds - (k ? seconds / 2 : 0));
        pthread_barrier_wait(&meet);
    }
}

int main()
{
    std::vector<std::thread> all;

    note("main");
    pthread_barrier_init(&meet, nullptr, 4);
    std::cout << "factorizing" << std::endl;
    for (int k = 0; k < 4; k++)
        all.emplace_back(block, k);
    for (auto &t : all)
        t.join();
    std::cout << "factorized" << std::endl;
}
