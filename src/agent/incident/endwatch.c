#include "agent/incident/endwatch.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "sense/proc/pidfdinfo.h"
#include "sense/proc/proc.h"

#define ENDWATCH_MOST 256

struct watched {
	int fd; /* -1: a free place */
	struct process_end end; /* time_unix_ms 0: it lives */
};

struct endwatch {
	const struct world *w;
	int epoll_fd;
	size_t most;
	size_t n; /* places that were ever used */
	struct watched of[ENDWATCH_MOST];
};

struct endwatch *endwatch_new(const struct world *w)
{
	struct rlimit files;
	struct endwatch *e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->w = w;
	e->most = getrlimit(RLIMIT_NOFILE, &files) == 0 ? MIN(files.rlim_cur / 4, (rlim_t)ENDWATCH_MOST) : 0;
	e->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return e->epoll_fd < 0 ? endwatch_free(e) : e;
}

struct endwatch *endwatch_free(struct endwatch *e)
{
	if (!e)
		return NULL;
	for (size_t i = 0; i < e->n; i++)
		closep(&e->of[i].fd);
	closep(&e->epoll_fd);
	free(e);
	return NULL;
}

int endwatch_fd(const struct endwatch *e)
{
	return e->epoll_fd;
}

/* The name changes with exec, and the environment is read later than the rest. */
static void endwatch_renew(struct watched *k, const struct process_end *who)
{
	TEXT_COPY(k->end.name, who->name);
	if (who->rank != NO_RANK)
		k->end.rank = who->rank;
}

/* A free place. NULL: it is known, or there is none. */
static struct watched *place_for(struct endwatch *e, const struct process_end *who)
{
	struct watched *spare = NULL;
	for (size_t i = 0; i < e->n; i++) {
		struct watched *k = &e->of[i];
		if (k->fd >= 0 && k->end.pid == who->pid && k->end.start_ticks == who->start_ticks) {
			endwatch_renew(k, who);
			return NULL;
		}
		if (k->fd < 0 && !spare)
			spare = k;
	}
	return spare ? spare : e->n < e->most ? &e->of[e->n] : NULL;
}

void endwatch_know(struct endwatch *e, const struct process_end *who)
{
	struct proc_stat st;
	struct watched *k = place_for(e, who);
	cleanup(closep) int fd = k ? (int)syscall(SYS_pidfd_open, who->pid, 0) : -1;
	if (fd < 0 || !proc_is_same(e->w, (struct proc_id){who->pid, who->start_ticks}, &st))
		return;
	const size_t at = (size_t)(k - e->of);
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.u64 = at};
	if (epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return;
	*k = (struct watched){.fd = fd, .end = *who};
	k->end.time_unix_ms = 0;
	fd = -1; /* the table owns it now */
	e->n = MAX(e->n, at + 1);
}

/* False: it is not told yet. *ret_known: it is told at all. */
static bool status_learn(const struct endwatch *e, struct watched *k, bool *ret_known)
{
	int r = pidfdinfo_exit_read(k->fd, &k->end.wait_status);
	*ret_known = r == 0;
	if (r == 0)
		return true;
	/* a zombie: its status is 0 also where it may not be read */
	struct proc_stat st;
	const struct proc_id id = {k->end.pid, k->end.start_ticks};
	bool zombie = proc_is_same(e->w, id, &st) && st.state == 'Z';
	if (zombie && proc_exit_read(e->w, id.pid, &k->end.wait_status) == 0 && k->end.wait_status != 0)
		return *ret_known = true;
	return r != PIDFDINFO_UNTOLD;
}

void endwatch_take(struct endwatch *e, void (*each)(void *ctx, const struct process_end *end), void *ctx)
{
	struct epoll_event ev[32];
	int n;
	do {
		n = epoll_wait(e->epoll_fd, ev, ARRAY_SIZE(ev), 0);
		for (int i = 0; i < n; i++) {
			struct watched *k = &e->of[ev[i].data.u64];
			bool known;
			if (k->fd < 0)
				continue;
			if (k->end.time_unix_ms == 0)
				k->end.time_unix_ms = e->w->unix_ms();
			if (!status_learn(e, k, &known))
				continue;
			/* a fork of ours may have the descriptor, too, and then it would stay in the list */
			(void)epoll_ctl(e->epoll_fd, EPOLL_CTL_DEL, k->fd, NULL);
			closep(&k->fd);
			if (known)
				each(ctx, &k->end);
		}
	} while (n == (int)ARRAY_SIZE(ev));
}
