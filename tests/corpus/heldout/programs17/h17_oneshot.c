// Three forked ranks, joined by pairs of sockets. Rank 0 collects the gradients by epoll, each socket for one event
// (EPOLLONESHOT), and arms it again when a message is whole. At step 40 the message of rank 2 comes in two parts: after
// the first one rank 0 goes to the next event without arming the socket, and never hears of the rest.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORLD = 3, VALUES = 1024 };

static void told_role(const char *role, int pid)
{
    const char *path = getenv("CORPUS_ROLES");
    if (!path)
        return;
    FILE *f = fopen(path, "a");
    fprintf(f, "%s %d\n", role, pid);
    fclose(f);
}

struct message {
    char bytes[VALUES * sizeof(double)];
    size_t got;
};

static void arm(int poll, int fd, int rank, int op)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLONESHOT, .data.u32 = (unsigned)rank};
    epoll_ctl(poll, op, fd, &e);
}

static void collect(int poll, const int *fds, struct message *messages)
{
    int whole = 0;
    for (int r = 1; r < WORLD; r++)
        messages[r].got = 0;
    while (whole < WORLD - 1) {
        struct epoll_event e;
        if (epoll_wait(poll, &e, 1, -1) < 1)
            continue;
        int r = (int)e.data.u32;
        struct message *m = &messages[r];
        ssize_t n = recv(fds[r], m->bytes + m->got, sizeof m->bytes - m->got, MSG_DONTWAIT);
        if (n <= 0)
            exit(1);
        m->got += (size_t)n;
        if (m->got < sizeof m->bytes)
            continue;
        whole++;
        arm(poll, fds[r], r, EPOLL_CTL_MOD);
    }
}

static void gather(const int *fds)
{
    static struct message messages[WORLD];
    int poll = epoll_create1(0);
    for (int r = 1; r < WORLD; r++)
        arm(poll, fds[r], r, EPOLL_CTL_ADD);
    for (int step = 0; step < 400; step++) {
        usleep(200000);
        collect(poll, fds, messages);
        for (int r = 1; r < WORLD; r++)
            send(fds[r], "g", 1, 0);
        if (step % 5 == 0) {
            printf("step %d loss %.3f\n", step, 2.5 / (1 + 0.1 * step));
            fflush(stdout);
        }
    }
}

static void train(int rank, int fd)
{
    static char gradient[VALUES * sizeof(double)];
    for (int step = 0; step < 400; step++) {
        char answer;
        usleep(200000);
        size_t first = rank == 2 && step == 40 ? sizeof gradient / 2 : sizeof gradient;
        send(fd, gradient, first, 0);
        if (first < sizeof gradient) {
            usleep(300000);
            send(fd, gradient + first, sizeof gradient - first, 0);
        }
        if (recv(fd, &answer, 1, 0) != 1)
            exit(1);
    }
}

int main(void)
{
    int pairs[WORLD][2], fds[WORLD];
    pid_t pids[WORLD];
    told_role("launcher", getpid());
    for (int r = 1; r < WORLD; r++) {
        socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[r]);
        fds[r] = pairs[r][0];
    }
    for (int r = 0; r < WORLD; r++) {
        pids[r] = fork();
        if (pids[r])
            continue;
        char name[8], number[4];
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        snprintf(name, sizeof name, "rank%d", r);
        snprintf(number, sizeof number, "%d", r);
        setenv("RANK", number, 1);
        told_role(name, getpid());
        for (int k = 1; k < WORLD; k++) {
            if (r)
                close(pairs[k][0]);
            if (k != r)
                close(pairs[k][1]);
        }
        if (r)
            train(r, pairs[r][1]);
        else
            gather(fds);
        return 0;
    }
    for (int k = 1; k < WORLD; k++) {
        close(pairs[k][0]);
        close(pairs[k][1]);
    }
    for (int r = 0; r < WORLD; r++)
        waitpid(pids[r], NULL, 0);
    return 0;
}
