// perror and exit 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void train(int n) { for (int i = 0; i < n; i++) { printf("step %d\n", i); fflush(stdout); usleep(20000); } }
int main(void) { train(60); if (!fopen("/data/vocab.bin", "r")) { perror("open /data/vocab.bin"); return 1; } return 0; }
