// a worker thread of C writes to freed pages
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <pthread.h>
#include <sys/mman.h>

static void train(int n) { for (int i = 0; i < n; i++) { printf("step %d\n", i); fflush(stdout); usleep(20000); } }
static void *work(void *p) { usleep(300000); memset(p, 1, 100); return 0; }
int main(void) {
    void *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t t;
    pthread_create(&t, 0, work, p);
    munmap(p, 4096);
    train(600);
    return 0;
}
