// Collects what three timers of the kernel tell; the next is due after 30 s each time.
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

int main(void) {
    const char *path = getenv("CORPUS_ROLES");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (f) {
        fprintf(f, "main %d\n", getpid());
        fclose(f);
    }
    for (int k = 0; k < 10; k++) {
        usleep(200000);
        printf("sampled warm-up %d\n", k);
        fflush(stdout);
    }
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec each = {.it_value = {.tv_sec = 32}, .it_interval = {.tv_sec = 32}};
    timerfd_settime(timer, 0, &each, NULL);
    for (int k = 0; k < 2; k++) {
        uint64_t times;
        struct pollfd want = {.fd = timer, .events = POLLIN};
        if (poll(&want, 1, -1) != 1 || read(timer, &times, sizeof times) != sizeof times)
            return 1;
        printf("window %d evaluated\n", k);
        fflush(stdout);
    }
    return 0;
}
