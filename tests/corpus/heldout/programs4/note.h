/* Notes a role and its pid for whoever checks the programs; ends children with their parent. */
#pragma once
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static inline void note(const char *role)
{
    const char *path = getenv("CORPUS_ROLES");
    FILE *f = path ? fopen(path, "a") : NULL;

    if (f) {
        fprintf(f, "%s %d\n", role, (int)getpid());
        fclose(f);
    }
}

static inline void with_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* A bit of arithmetic, then sleep, as a step on a device. */
static inline double step_of(int ms)
{
    double x = 1;
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

    for (int i = 0; i < 2000000; i++)
        x = x * 0.9999 + i;
    nanosleep(&t, NULL);
    return x;
}
