/* Parent and solver take turns by signals; who waits looks at its flag, tidies up, and then pauses: a signal in between is lost. */
#include "../programs4/note.h"
#include <string.h>

static volatile sig_atomic_t turn;

static void mine(int sig)
{
    (void)sig;
    turn = 1;
}

static void wait_turn(int tidy_ms)
{
    while (!turn) {
        step_of(tidy_ms);
        pause();
    }
    turn = 0;
}

int main(void)
{
    struct sigaction s = {.sa_handler = mine};
    pid_t child, parent = getpid();

    note("main");
    sigaction(SIGUSR1, &s, NULL);
    child = fork();
    if (child == 0) {
        note("solver");
        with_parent();
        for (;;) {
            wait_turn(1);
            step_of(250);
            kill(parent, SIGUSR1);
        }
    }
    for (int n = 0; n < 1000; n++) {
        step_of(300);
        kill(child, SIGUSR1);
        wait_turn(n == 12 ? 900 : 1);
        printf("iteration %d\n", n), fflush(stdout);
    }
}
