#include "act/deathsig.h"

#include <fcntl.h>

int deathsig_open(struct deathsig *ret, int signal)
{
	struct deathsig d = DEATHSIG_NONE;
	if (pipe2(d.fd, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	(void)fcntl(d.fd[0], F_SETPIPE_SZ, 1); /* one page: nothing is ever written */
	for (size_t i = 0; i < ARRAY_SIZE(d.fd); i++)
		if (fcntl(d.fd[i], F_SETSIG, signal) < 0 || fcntl(d.fd[i], F_SETFL, O_NONBLOCK | O_ASYNC) < 0) {
			int r = -errno;
			deathsig_close(&d);
			return r;
		}
	*ret = d;
	return 0;
}

int deathsig_set(const struct deathsig *d, pid_t pid)
{
	for (size_t i = 0; i < ARRAY_SIZE(d->fd); i++)
		if (d->fd[i] >= 0 && fcntl(d->fd[i], F_SETOWN, pid) < 0)
			return -errno;
	return 0;
}

void deathsig_close(struct deathsig *d)
{
	ignore(deathsig_set(d, 0), "0 is always taken");
	closep(&d->fd[0]);
	closep(&d->fd[1]);
	*d = DEATHSIG_NONE;
}
