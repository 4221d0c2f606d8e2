#include <chrono>
#include <cstdio>
#include <thread>
int main() {
    for (int i = 0; i < 15; i++) { printf("iter %d\n", i); fflush(stdout); std::this_thread::sleep_for(std::chrono::milliseconds(50)); }
    std::thread t([] { std::this_thread::sleep_for(std::chrono::seconds(5)); });
}
