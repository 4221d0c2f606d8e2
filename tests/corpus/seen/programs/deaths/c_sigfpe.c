// an integer divided by zero
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void train(int n) { for (int i = 0; i < n; i++) { printf("step %d\n", i); fflush(stdout); usleep(20000); } }
int main(int argc, char **v) { (void)v; train(60); volatile int z = argc - 1; printf("%d\n", 7 / z); return 0; }
