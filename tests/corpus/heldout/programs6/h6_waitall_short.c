/* Two processes speak by a fixed struct; the sender was built without four bytes of padding and waits for the answer, the reader for the rest. */
#include "../programs4/note.h"
#include <stdint.h>
#include <sys/socket.h>

struct report {
    uint32_t step, flags;
    double loss;
    uint32_t tokens;
}; /* 24 bytes with its padding */

static void work(int s)
{
    struct report r = {0};
    char answer;

    note("worker");
    with_parent();
    for (r.step = 0; r.step < 1000; r.step++) {
        step_of(120);
        size_t size = r.step < 20 ? sizeof(r) : 20; /* the packed one, by another path of the code */
        if (send(s, &r, size, 0) != (ssize_t)size || recv(s, &answer, 1, 0) != 1)
            _exit(1);
    }
}

int main(void)
{
    struct report r;
    int s[2];

    note("main");
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
        return 1;
    if (fork() == 0) {
        close(s[0]);
        work(s[1]);
        _exit(0);
    }
    close(s[1]);
    while (recv(s[0], &r, sizeof(r), MSG_WAITALL) == sizeof(r)) {
        printf("step %u loss %g\n", r.step, 1.0 / (r.step + 1));
        fflush(stdout);
        if (send(s[0], "k", 1, 0) != 1)
            return 1;
    }
}
