/* Work items by System V messages: rank 1 waits for a message type that the feeder never sends. */
#include "job.h"
#include <sys/ipc.h>
#include <sys/msg.h>
struct item { long type; char text[32]; };
static int id;

static void feeder(void)
{
	struct item m = {1, "item"};
	for (int n = 0;; n++) {
		m.type = n < 15 ? 2 : 3;          /* the numbering of the consumers has changed */
		msgsnd(id, &m, sizeof m.text, n < 15 ? 0 : IPC_NOWAIT);
		nap(0.25);
	}
}

static void setup(void)
{
	char b[16];
	id = msgget(IPC_PRIVATE, 0600);
	snprintf(b, sizeof b, "%d", id);
	setenv("MSGID", b, 1);
	job_helper("feeder", feeder);
	if (fork() == 0) {
		pid_t boss = getppid();
		signal(SIGTERM, SIG_DFL);
		while (getppid() == boss) nap(0.5);
		msgctl(id, IPC_RMID, 0);
		_exit(0);
	}
}

int main(int argc, char **argv)
{
	(void)argc;
	struct item m;
	job_start(argv, 3, setup);
	id = atoi(getenv("MSGID"));
	star_join();
	for (int i = 0;; i++) {
		nap(0.1);
		if (rank == 1 && msgrcv(id, &m, sizeof m.text, 2, 0) < 0) return 1;
		star_sum(1);
		if (!rank) step(i);
	}
}
