/* Rank helpers for the C programs: a sum over rank 0 by TCP, steps, a heartbeat thread. */
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
static int my_rank, n_ranks, hub_fd[16];
static inline void read_all(int fd, void *p, size_t n)
{
    char *c = p;
    while (n) {
        ssize_t k = read(fd, c, n);
        if (k <= 0)
            exit(3);
        c += k;
        n -= k;
    }
}
static inline void write_all(int fd, const void *p, size_t n)
{
    const char *c = p;
    while (n) {
        ssize_t k = write(fd, c, n);
        if (k <= 0)
            exit(3);
        c += k;
        n -= k;
    }
}
static inline void join_ranks(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    int one = 1;
    my_rank = atoi(getenv("RANK"));
    n_ranks = atoi(getenv("WORLD_SIZE"));
    a.sin_port = htons(atoi(getenv("MASTER_PORT")));
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (n_ranks < 2)
        return;
    if (my_rank == 0) {
        int s = socket(AF_INET, SOCK_STREAM, 0);
        setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (bind(s, (void *)&a, sizeof a) || listen(s, 16))
            exit(4);
        for (int i = 1; i < n_ranks; i++) {
            int r, c = accept(s, NULL, NULL);
            read_all(c, &r, sizeof r);
            hub_fd[r] = c;
        }
        close(s);
        return;
    }
    for (;;) {
        int c = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(c, (void *)&a, sizeof a) == 0) {
            hub_fd[0] = c;
            write_all(c, &my_rank, sizeof my_rank);
            return;
        }
        close(c);
        usleep(50000);
    }
}
static inline double sum_ranks(double x)
{
    double y;
    if (my_rank) {
        write_all(hub_fd[0], &x, sizeof x);
        read_all(hub_fd[0], &x, sizeof x);
        return x;
    }
    for (int r = 1; r < n_ranks; r++) {
        read_all(hub_fd[r], &y, sizeof y);
        x += y;
    }
    for (int r = 1; r < n_ranks; r++)
        write_all(hub_fd[r], &x, sizeof x);
    return x;
}
static inline void say_step(int i)
{
    if (my_rank == 0) {
        printf("step %d loss %.3f\n", i, 2.0 / (i + 1));
        fflush(stdout);
    }
}
static inline void note_role(const char *name, int pid)
{
    const char *p = getenv("CORPUS_ROLES");
    FILE *f = p ? fopen(p, "a") : NULL;
    if (f) {
        fprintf(f, "%s %d\n", name, pid);
        fclose(f);
    }
}
static void *beat(void *a)
{
    for (;;)
        sleep(1);
    return a;
}
static inline void heartbeat(void)
{
    pthread_t t;
    pthread_create(&t, NULL, beat, NULL);
}
