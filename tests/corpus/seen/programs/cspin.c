/* Ranks spin on counters in shared memory until all have arrived; rank 0 waits for its reader child, which reads rank 0. */
#include "job.h"
#include <sched.h>
struct sh { _Alignas(64) volatile long at[16]; };

int main(int argc, char **argv)
{
	(void)argc;
	job_start(argv, 2, 0);
	struct sh *s = job_shm(sizeof *s);
	int sv[2];
	char c = 1;
	if (rank == 0) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv)) return 1;
		if (fork() == 0) {
			role("reader0", 0);
			close(sv[0]);
			for (int n = 0; read(sv[1], &c, 1) == 1; n++)
				if (n != 14 && write(sv[1], &c, 1) != 1) break;
			_exit(0);
		}
		close(sv[1]);
	}
	for (long i = 1;; i++) {
		nap(0.25);
		if (rank == 0 && (write(sv[0], &c, 1) != 1 || read(sv[0], &c, 1) != 1)) return 1;
		s->at[rank] = i;
		for (int r = 0; r < world; r++) while (s->at[r] < i) ;
		if (rank == 1) step((int)i);
	}
}
