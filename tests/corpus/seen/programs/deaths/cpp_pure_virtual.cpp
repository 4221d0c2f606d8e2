// a pure virtual call
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
static void train(int n) { for (int i = 0; i < n; i++) { std::printf("step %d\n", i); std::fflush(stdout); usleep(20000); } }
struct A { A() { call(); } void call() { f(); } virtual void f() = 0; virtual ~A() {} };
struct B : A { void f() override {} };
int main() { train(60); std::unique_ptr<A> b(new B); return 0; }
