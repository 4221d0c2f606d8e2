// recursion without end in C
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void train(int n) { for (int i = 0; i < n; i++) { printf("step %d\n", i); fflush(stdout); usleep(20000); } }
__attribute__((noinline)) static int walk(int n) { volatile char b[256]; b[n & 255] = 1; return walk(n + 1) + b[0]; }
int main(void) { train(60); return walk(0); }
