/* Metrics go through a POSIX message queue; its consumer was stopped. */
#include "job.h"
#include <mqueue.h>
static mqd_t q;

static void sink(void)
{
	char b[64];
	for (int n = 0;; n++) {
		if (mq_receive(q, b, sizeof b, 0) < 0) exit(1);
		if (n == 40) kill(getpid(), SIGSTOP);
	}
}

static void setup(void)
{
	struct mq_attr a = {.mq_maxmsg = 5, .mq_msgsize = 64};
	q = mq_open(getenv("JOB_SHM"), O_RDWR | O_CREAT, 0600, &a);
	if (q == (mqd_t)-1) { perror("mq_open"); exit(1); }
	job_helper("sink", sink);
}

int main(int argc, char **argv)
{
	(void)argc;
	job_start(argv, 3, setup);
	services(1);
	q = mq_open(getenv("JOB_SHM"), O_RDWR);
	star_join();
	if (!rank) mq_unlink(getenv("JOB_SHM"));
	for (int i = 0;; i++) {
		nap(0.2);
		star_sum(1);
		mq_send(q, "loss", 5, 0);
		if (!rank) step(i);
	}
}
