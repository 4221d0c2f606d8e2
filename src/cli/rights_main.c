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

int main(void)
{
	if (!was_given_a_socket()) {
		log_error("vigil-rights is started by systemd (vigil-rights.socket), which hands it a socket; there is "
			  "nothing to do for it by hand");
		return 2;
	}
	for (;;) {
		struct pollfd p = {.fd = LISTEN_FD, .events = POLLIN};
		if (poll(&p, 1, idle_ms) <= 0)
			return 0;
		cleanup(closep) int one = accept4(LISTEN_FD, NULL, NULL, SOCK_CLOEXEC);
		int r = one < 0 ? -errno : rightsdoor_serve(one);
		if (r < 0)
			log_debug("a request was not answered: %s", strerror(-r));
	}
}
