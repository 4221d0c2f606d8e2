// a string is too long for its buffer, the C library sees it
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void train(int n) { for (int i = 0; i < n; i++) { printf("step %d\n", i); fflush(stdout); usleep(20000); } }
#pragma GCC optimize("O2")
extern void __chk_fail(void) __attribute__((noreturn));
int main(int argc, char **v) { train(60); if (argc < 9) __chk_fail(); return !v; }
