// A learner is told by a signal (mq_notify) when there is an episode in its POSIX queue, takes up to four, and asks to be
// told again. The kernel tells only when an empty queue gets a message. When an actor has sent five at once, one is
// left: nothing is told, the queue becomes full, and the actor waits for room.
//
// slow: the learner takes all that are there after it has asked, and one episode takes 48 s.
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void role(const char *name) {
	const char *path = getenv("CORPUS_ROLES");
	if (!path)
		return;
	FILE *f = fopen(path, "a");
	fprintf(f, "%s %d\n", name, getpid());
	fclose(f);
}

static void play(mqd_t out, bool slow) {
	char episode[64] = "episode";
	for (int k = 0; k < (slow ? 50 : 2000); k++) {
		bool burst = k > 32 && k <= 37;
		if (!burst)
			usleep(200000);
		if (slow && k == 40)
			sleep(48);
		mq_send(out, episode, sizeof episode, 0);
	}
}

static void ask(mqd_t in) {
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
	mq_notify(in, &event);
}

static int take(mqd_t in, int most) {
	char got[64];
	int n = 0;
	while (n < most && mq_receive(in, got, sizeof got, NULL) >= 0)
		n++;
	return n;
}

static void learn(mqd_t in, bool slow) {
	sigset_t told;
	sigemptyset(&told);
	sigaddset(&told, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &told, NULL);
	ask(in);
	for (int step = 0, seen = 0; !slow || seen < 50;) {
		sigwaitinfo(&told, NULL);
		usleep(50000);
		if (slow)
			ask(in);
		int n = take(in, slow ? 100 : 4);
		if (!slow)
			ask(in);
		for (; n; n--, seen++)
			if (step++ % 5 == 0)
				printf("step %d loss %.3f\n", step - 1, 2.0 / (1 + step));
	}
}

int main(int argc, char **argv) {
	bool slow = argc > 1 && !strcmp(argv[1], "slow");
	setvbuf(stdout, NULL, _IOLBF, 0);
	role("main");
	char name[64];
	snprintf(name, sizeof name, "/h24-%d", getpid());
	struct mq_attr attr = {.mq_maxmsg = 8, .mq_msgsize = 64};
	mqd_t out = mq_open(name, O_CREAT | O_RDWR, 0600, &attr);
	mqd_t in = mq_open(name, O_RDONLY | O_NONBLOCK);
	mq_unlink(name);
	pid_t actor = fork();
	if (!actor) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		role("actor");
		play(out, slow);
		return 0;
	}
	learn(in, slow);
	waitpid(actor, NULL, 0);
	return 0;
}
