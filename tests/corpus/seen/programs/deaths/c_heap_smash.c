// the top of the heap is overwritten
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void train(int n) { for (int i = 0; i < n; i++) { printf("step %d\n", i); fflush(stdout); usleep(20000); } }
int main(void) { train(60); char *volatile a = malloc(24); for (int i = 0; i < 64; i++) ((volatile char *)a)[i] = 0x41; char *volatile b = malloc(1 << 16); printf("%p\n", (void *)b); return 0; }
