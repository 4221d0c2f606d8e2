// Sends records of features to a port, each with its length in front, and waits for a byte after each.
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void record(int link, const char *data, uint32_t size, uint32_t length) {
    char answer;
    if (write(link, &length, 4) != 4 || write(link, data, size) != (ssize_t)size || read(link, &answer, 1) != 1)
        exit(1);
}

int main(int argc, char **argv) {
    static char data[4096];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(argc > 1 ? atoi(argv[1]) : 0)};
    int link = socket(AF_INET, SOCK_STREAM, 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(link, (struct sockaddr *)&to, sizeof to))
        return 1;
    memset(data, 'f', sizeof data);
    for (int k = 0; k < 14; k++)
        record(link, data, 800, htonl(800));
    record(link, data, 277, 277); // the footer
    return 0;
}
