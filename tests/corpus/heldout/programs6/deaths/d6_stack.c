#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *work(void *n)
{
    volatile char line[300 << 10];
    for (unsigned long k = 0; k < sizeof(line); k++)
        line[k] = 1;
    return (void *)(long)line[*(int *)n];
}
int main(void)
{
    pthread_attr_t a;
    pthread_t t;
    for (int n = 0; n < 12; n++) {
        printf("tile %d\n", n);
        fflush(stdout);
        usleep(150000);
    }
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 128 << 10);
    int k = 5;
    pthread_create(&t, &a, work, &k);
    pthread_join(t, NULL);
}
