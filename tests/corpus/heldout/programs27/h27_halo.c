// Ranks of MPI exchange the borders of their parts. After a part was added rank 0 computes its left neighbour from the old
// number of parts: it waits for a border of rank 1, which sends its own to rank 2 alone.
//
// slow: nothing is moved; rank 2 writes its part for 66 s.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void role(int rank)
{
	const char *path = getenv("CORPUS_ROLES");
	if (!path)
		return;
	FILE *f = fopen(path, "a");
	fprintf(f, "rank%d %d\n", rank, getpid());
	fclose(f);
}

int main(int argc, char **argv)
{
	int slow = argc > 1 && !strcmp(argv[1], "slow"), rank, size;
	double border[2][64] = {0};
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	role(rank);
	for (int step = 0; step < (slow ? 110 : 3000); step++) {
		int parts = step >= 90 && !slow && rank == 0 ? size - 1 : size;
		int left = rank ? rank - 1 : parts - 1, right = (rank + 1) % size;
		MPI_Request requests[2];
		if (slow && rank == 2 && step == 90)
			sleep(66);
		MPI_Irecv(border[0], 64, MPI_DOUBLE, left, step, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(border[1], 64, MPI_DOUBLE, right, step, MPI_COMM_WORLD, &requests[1]);
		usleep(200000);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		if (rank == 0 && step % 10 == 0) {
			printf("iteration %d residual %.3e\n", step, 1.0 / (1 + step));
			fflush(stdout);
		}
	}
	MPI_Finalize();
	return 0;
}
