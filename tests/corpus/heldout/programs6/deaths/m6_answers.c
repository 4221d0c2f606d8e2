#include "../../programs4/note.h"
#include <pthread.h>
static void *work(void *unused)
{
    volatile char tile[2 << 20];
    for (unsigned long k = 0; k < sizeof(tile); k += 512)
        tile[k] = 3;
    pause(); /* for an answer */
    return tile[1024] == 3 ? NULL : unused;
}
int main(void)
{
    pthread_t t;
    note("main");
    for (int n = 0; n < 2000; n++) {
        pthread_create(&t, NULL, work, NULL);
        if (n % 10 == 0) {
            printf("tile %d\n", n);
            fflush(stdout);
        }
        usleep(60000);
    }
}
