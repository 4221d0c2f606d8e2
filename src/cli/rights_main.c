/*
 * vigil-rights: hands descriptors to the node service that it has no right to open itself (sense/rightsdoor). systemd
 * starts it when it is asked, with the listening socket as descriptor 3; it ends when nobody asks for a while.
 */
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/text.h"
#include "sense/rightsdoor.h"

#define LISTEN_FD 3
static const int idle_ms = 60000;

static bool was_given_a_socket(void)
{
	const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");
	int listens = 0;
	uint64_t is, count;
	socklen_t len = sizeof(listens);
	return pid && n && span_u64(span_of(pid), &is) == 0 && is == (uint64_t)getpid() &&
	       span_u64(span_of(n), &count) == 0 && count == 1 &&
	       getsockopt(LISTEN_FD, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 && listens;
}

/* Those who have connected and not asked yet: nobody waits for them. */
#define WAITING 16

struct door {
	struct pollfd p[1 + WAITING]; /* the first is where they connect */
	size_t n;
};

static void door_drop(struct door *d, size_t i)
{
	closep(&d->p[i].fd);
	d->n--;
	memmove(&d->p[i], &d->p[i + 1], (d->n - i) * sizeof(d->p[0]));
}

static void door_admit(struct door *d)
{
	cleanup(closep) int one = accept4(LISTEN_FD, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (one < 0 || !rightsdoor_admits(one))
		return;
	if (d->n == ARRAY_SIZE(d->p))
		door_drop(d, 1); /* who has kept silent for longest */
	d->p[d->n++] = (struct pollfd){.fd = take_fd(&one), .events = POLLIN};
}

static void door_answer(struct door *d, size_t i)
{
	int r = rightsdoor_serve(d->p[i].fd);
	if (r < 0)
		log_debug("a request was not answered: %s", strerror(-r));
	door_drop(d, i);
}

int main(void)
{
	struct door d = {.p = {{.fd = LISTEN_FD, .events = POLLIN}}, .n = 1};
	if (!was_given_a_socket()) {
		log_error("vigil-rights is started by systemd (vigil-rights.socket), which hands it a socket; there is "
			  "nothing to do for it by hand");
		return 2;
	}
	while (poll(d.p, d.n, idle_ms) > 0) {
		for (size_t i = d.n; i-- > 1;)
			if (d.p[i].revents)
				door_answer(&d, i);
		if (d.p[0].revents)
			door_admit(&d);
	}
	return 0;
}
