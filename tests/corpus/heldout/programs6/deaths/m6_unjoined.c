#include "../../programs4/note.h"
#include <pthread.h>
#include <string.h>
static void *work(void *unused)
{
    char tile[2 << 20];
    memset(tile, 3, sizeof(tile));
    return tile[12345] == 3 ? NULL : unused;
}
int main(void)
{
    pthread_t t;
    note("main");
    for (int n = 0; n < 2000; n++) {
        pthread_create(&t, NULL, work, NULL); /* nobody joins it */
        if (n % 10 == 0) {
            printf("tile %d\n", n);
            fflush(stdout);
        }
        usleep(60000);
    }
}
