// a buffer on the stack is overrun
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void train(int n) { for (int i = 0; i < n; i++) { printf("step %d\n", i); fflush(stdout); usleep(20000); } }
__attribute__((noinline, optimize("stack-protector-all"))) static void name(int n) { char b[16]; for (volatile int i = 0; i < n; i++) ((volatile char *)b)[i] = 1; }
int main(void) { train(60); name(400); return 0; }
