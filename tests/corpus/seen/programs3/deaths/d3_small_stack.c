#include <stdio.h>
#include <string.h>
static int walk(int n) { char frame[4096]; memset(frame, n, sizeof(frame)); return n ? walk(n - 1) + frame[n % 4096] : frame[0]; }
int main(void) { printf("building the tree\n"); fflush(stdout); volatile int n = 400; return walk(n) == 12345; }
