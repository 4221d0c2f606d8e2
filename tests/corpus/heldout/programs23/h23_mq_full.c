// A learner and an actor with two POSIX queues: episodes one way, weights the other way. The actor takes all weights
// that are there after every fourth episode. Then it is told to play with fixed weights, and takes none: the learner
// waits for room for weights, the actor for room for episodes.
//
// slow: the actor's 36th episode takes 48 s, and it goes on taking weights.
#include <fcntl.h>
#include <mqueue.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

static mqd_t episodes, weights, weights_now;

static void role(const char *name) {
	const char *path = getenv("CORPUS_ROLES");
	if (!path)
		return;
	FILE *f = fopen(path, "a");
	fprintf(f, "%s %d\n", name, getpid());
	fclose(f);
}

static mqd_t queue(const char *what, long room, mqd_t *ret_now) {
	char name[64];
	snprintf(name, sizeof name, "/h23-%s-%d", what, getpid());
	struct mq_attr attr = {.mq_maxmsg = room, .mq_msgsize = 64};
	mqd_t q = mq_open(name, O_CREAT | O_RDWR, 0600, &attr);
	if (ret_now)
		*ret_now = mq_open(name, O_RDWR | O_NONBLOCK);
	mq_unlink(name);
	return q;
}

static void play(bool slow) {
	char got[64], episode[64] = "episode";
	for (int n = 0; n < (slow ? 60 : 2000); n++) {
		usleep(100000);
		if (slow && n == 36)
			sleep(48);
		if (n % 4 == 0 && (slow || n < 32))
			while (mq_receive(weights_now, got, sizeof got, NULL) >= 0)
				;
		mq_send(episodes, episode, sizeof episode, 0);
	}
}

static void learn(bool slow) {
	char got[64], update[64] = "weights";
	for (int step = 0; step < (slow ? 60 : 2000); step++) {
		mq_receive(episodes, got, sizeof got, NULL);
		usleep(180000);
		if (step % 2 == 0 && (!slow || step < 54))
			mq_send(weights, update, sizeof update, 0);
		if (step % 5 == 0)
			printf("step %d loss %.3f\n", step, 2.0 / (1 + step));
	}
}

int main(int argc, char **argv) {
	bool slow = argc > 1 && !strcmp(argv[1], "slow");
	setvbuf(stdout, NULL, _IOLBF, 0);
	role("main");
	episodes = queue("episodes", 4, NULL);
	weights = queue("weights", 6, &weights_now);
	pid_t actor = fork();
	if (!actor) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		role("actor");
		play(slow);
		return 0;
	}
	learn(slow);
	waitpid(actor, NULL, 0);
	return 0;
}
