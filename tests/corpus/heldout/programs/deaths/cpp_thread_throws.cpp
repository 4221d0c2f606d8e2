// an exception leaves a thread
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
static void train(int n) { for (int i = 0; i < n; i++) { std::printf("step %d\n", i); std::fflush(stdout); usleep(20000); } }
int main() { train(60); std::thread t([] { throw std::invalid_argument("stoi: batch=auto"); }); t.join(); }
