#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    int rank = atoi(getenv("RANK") ? getenv("RANK") : "0");
    for (int i = 0; i < 15; i++) { printf("[%d] iter %d\n", rank, i); fflush(stdout); usleep(50000); }
    if (rank == 1) { fprintf(stderr, "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD with errorcode 77: negative Jacobian in cell 8812\n"); exit(77); }
    sleep(20);
    return 0;
}
