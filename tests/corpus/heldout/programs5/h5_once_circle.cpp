// Two lazily made singletons need each other; two threads begin with different ones.
#include "../programs4/note.h"
#include <iostream>
#include <mutex>
#include <thread>

static std::once_flag device_once, allocator_once;
static void device();

static void allocator()
{
    std::call_once(allocator_once, [] { step_of(400); device(); });
}

static void device()
{
    std::call_once(device_once, [] { step_of(400); allocator(); });
}

int main()
{
    note("main");
    for (int i = 0; i < 5; i++) {
        step_of(200);
        std::cout << "parsing config " << i << std::endl;
    }
    std::thread loader([] { allocator(); });
    device();
    loader.join();
}
