// double free
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void train(int n) { for (int i = 0; i < n; i++) { printf("step %d\n", i); fflush(stdout); usleep(20000); } }
int main(void) { train(60); char *a = malloc(40); char *volatile b = a; free(a); free(b); return 0; }
