// The future of std::async is dropped at the end of a scope: its destructor waits for a task that waits for what comes behind the scope.
#include "../programs4/note.h"
#include <cstdio>
#include <future>

int main()
{
    note("main");
    for (int step = 0; step < 1000; step++) {
        std::promise<int> weights;
        auto ready = weights.get_future();
        {
            auto task = std::async(std::launch::async, [&] { return ready.get() + 1; });
            step_of(100);
            if (step < 20)
                weights.set_value(step);
        }
        if (step >= 20)
            weights.set_value(step);
        printf("step %d\n", step);
        fflush(stdout);
    }
}
