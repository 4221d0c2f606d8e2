/* Two ranks that swap bytes over TCP. A timer's signal asks for a checkpoint; in rank 1 it comes while the tables are locked, and its handler locks them. */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t tables = PTHREAD_MUTEX_INITIALIZER;
static volatile int saved;

static void checkpoint(int sig)
{
    (void)sig;
    pthread_mutex_lock(&tables);
    saved++;
    pthread_mutex_unlock(&tables);
}

static int link_up(int rank)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(getenv("MASTER_PORT")))};
    int s = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (rank == 0) {
        setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        if (bind(s, (struct sockaddr *)&at, sizeof at) || listen(s, 1))
            exit(2);
        return accept(s, NULL, NULL);
    }
    while (connect(s, (struct sockaddr *)&at, sizeof at)) {
        close(s);
        usleep(50000);
        s = socket(AF_INET, SOCK_STREAM, 0);
    }
    return s;
}

int main(void)
{
    int rank = atoi(getenv("RANK")), s = link_up(rank);
    char c = 'g';
    signal(SIGUSR1, checkpoint);
    for (int step = 0; step < 1000; step++) {
        usleep(200000);
        pthread_mutex_lock(&tables);
        if (rank == 1 && step == 20)
            raise(SIGUSR1);
        pthread_mutex_unlock(&tables);
        if (send(s, &c, 1, 0) != 1 || recv(s, &c, 1, 0) != 1)
            return 1;
        if (rank == 0) {
            printf("iter %d loss %.4f\n", step, 2.0 / (step + 1));
            fflush(stdout);
        }
    }
    return 0;
}
