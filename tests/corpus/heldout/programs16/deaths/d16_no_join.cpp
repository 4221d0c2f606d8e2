// A function that starts a thread returns by an early way out, without its join.
#include <unistd.h>
#include <cstdio>
#include <thread>

static bool evaluate(int samples)
{
    std::thread reader([] { sleep(2); });
    if (samples == 0)
        return false;
    reader.join();
    return true;
}

int main()
{
    for (int step = 0; step < 30; step += 5) {
        printf("step %d\n", step);
        fflush(stdout);
        usleep(400000);
    }
    evaluate(0);
    puts("training done");
}
