/* Halo exchange: everyone sends to the right, then receives from the left. Messages are small until the mesh is refined. */
#include "../../programs4/note.h"
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, world, n = 64;
    double *out = calloc(4000000, 8), *in = calloc(4000000, 8);
    char name[20];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    snprintf(name, sizeof(name), "rank%d", rank);
    note(name);
    with_parent();
    for (int step = 0; step < 1000; step++) {
        step_of(150);
        if (step == 12)
            n = 4000000;
        MPI_Send(out, n, MPI_DOUBLE, (rank + 1) % world, 0, MPI_COMM_WORLD);
        MPI_Recv(in, n, MPI_DOUBLE, (rank + world - 1) % world, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0)
            printf("step %d residual %g\n", step, in[0]), fflush(stdout);
    }
    MPI_Finalize();
}
