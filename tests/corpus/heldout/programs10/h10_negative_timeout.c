// Ranks exchange gradients by datagrams. Rank 1 waits for a receipt until a deadline and sends again; the time that is left is reckoned before
// each wait and once is less than nothing, which for poll means for ever. Rank 0 has lost that datagram and waits for it.
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int port;

static long ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct sockaddr_in at(int rank) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port + 1 + rank)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return a;
}

static void post(int s, int to, int number) {
    struct sockaddr_in a = at(to);
    sendto(s, &number, sizeof number, 0, (struct sockaddr *)&a, sizeof a);
}

static void rank0(int s) {
    for (int k = 0, lost = 0; k < 1000;) {
        int number;
        if (recv(s, &number, sizeof number, 0) != sizeof number || (number == 25 && !lost++))
            continue; // lost, as a datagram may be
        post(s, 1, number);
        printf("iter %d loss %.3f\n", number, 2.0 / (1 + number));
        fflush(stdout);
        k = number + 1;
    }
}

static void send_until_received(int s, int number) {
    struct pollfd p = {s, POLLIN, 0};
    int answer = -1;
    while (answer != number) {
        long deadline = ms() + 150;
        post(s, 0, number);
        usleep(number % 25 == 0 ? 180000 : 10000); // the copy to the device, in between
        if (poll(&p, 1, (int)(deadline - ms())) == 1 && recv(s, &answer, sizeof answer, 0) < 0)
            exit(1);
    }
}

int main(void) {
    int rank = atoi(getenv("RANK")), s = socket(AF_INET, SOCK_DGRAM, 0);
    port = atoi(getenv("MASTER_PORT"));
    struct sockaddr_in me = at(rank);
    if (bind(s, (struct sockaddr *)&me, sizeof me))
        return 1;
    if (rank == 0)
        rank0(s);
    sleep(1);
    for (int k = 0; k < 1000; k++) {
        usleep(80000);
        send_until_received(s, k);
    }
    return 0;
}
