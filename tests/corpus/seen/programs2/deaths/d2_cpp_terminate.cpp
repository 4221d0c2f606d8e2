#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>
int main() {
    for (int i = 0; i < 10; i++) { printf("step %d loss %.3f\n", i, 2.0 / (i + 1)); fflush(stdout); std::this_thread::sleep_for(std::chrono::milliseconds(30)); }
    std::vector<int> v(4);
    return v.at(9);
}
