// caught in main, printed, status 1
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
static void train(int n) { for (int i = 0; i < n; i++) { std::printf("step %d\n", i); std::fflush(stdout); usleep(20000); } }
int main() { train(60); try { throw std::runtime_error("model.onnx: opset 99 is not supported"); } catch (const std::exception &e) { std::fprintf(stderr, "error: %s\n", e.what()); return 1; } }
