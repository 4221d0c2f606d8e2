// assert of C
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <assert.h>

static void train(int n) { for (int i = 0; i < n; i++) { printf("step %d\n", i); fflush(stdout); usleep(20000); } }
int main(int argc, char **v) { (void)v; train(60); assert(argc > 5 && "queue depth must be positive"); return 0; }
