/* Time limits: of system calls, and those that are options of the sockets on which these wait. */
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/net/socklimit.h"
#include "sense/proc/access.h"
#include "sense/wait/waitfacts_parts.h"

/* Sockets that are asked; what further ones wait for is never complete. */
#define SOCKETS_MOST 4096

enum limit_shape {
	LIMIT_MS, /* int, milliseconds; negative: none */
	LIMIT_SPEC, /* struct timespec, from the beginning */
	LIMIT_VAL, /* struct timeval, from the beginning */
	LIMIT_UNTIL, /* struct timespec on the clock in the next argument */
	LIMIT_UNTIL_REAL, /* struct timespec of the real-time clock */
};

static const struct {
	int64_t nr;
	enum limit_shape shape;
	uint8_t argument;
} limits[] = {
#ifdef SYS_poll
	{SYS_poll, LIMIT_MS, 2},
	{SYS_select, LIMIT_VAL, 4},
	{SYS_epoll_wait, LIMIT_MS, 3},
#endif
	{SYS_ppoll, LIMIT_SPEC, 2},
	{SYS_pselect6, LIMIT_SPEC, 4},
	{SYS_epoll_pwait, LIMIT_MS, 3},
#ifdef SYS_epoll_pwait2
	{SYS_epoll_pwait2, LIMIT_SPEC, 3},
#endif
	{SYS_semtimedop, LIMIT_SPEC, 3},
	{SYS_rt_sigtimedwait, LIMIT_SPEC, 2},
	{SYS_nanosleep, LIMIT_SPEC, 0},
	{SYS_io_getevents, LIMIT_SPEC, 4},
	{SYS_mq_timedreceive, LIMIT_UNTIL_REAL, 4},
	{SYS_mq_timedsend, LIMIT_UNTIL_REAL, 4},
#ifdef SYS_futex_waitv
	{SYS_futex_waitv, LIMIT_UNTIL, 3},
#endif
#ifdef SYS_futex_wait
	{SYS_futex_wait, LIMIT_UNTIL, 4},
#endif
};

/* s seconds and part units of 1/per of a second; UINT64_MAX if it does not fit; 0 if it is no time. */
static uint64_t time_ns(int64_t s, int64_t part, uint64_t per)
{
	if (s < 0 || part < 0 || (uint64_t)part >= per)
		return 0;
	if ((uint64_t)s >= UINT64_MAX / NS_PER_S - 1)
		return UINT64_MAX;
	return (uint64_t)s * NS_PER_S + (uint64_t)part * (NS_PER_S / per);
}

static void limit_spec(struct waiting *c, uint64_t addr)
{
	struct timespec ts;
	c->t->timed = true;
	if (waiting_memory(c, addr, &ts, sizeof(ts)))
		c->t->limit_ns = time_ns(ts.tv_sec, ts.tv_nsec, NS_PER_S);
}

/* The end of the wait on a clock: how long it has waited so far is not told. */
static void limit_until(struct waiting *c, uint64_t addr, uint64_t clock)
{
	struct timespec ts;
	uint64_t now_ns = 0;
	c->t->timed = true;
	if (!waiting_memory(c, addr, &ts, sizeof(ts)))
		return;
	if (clock == CLOCK_MONOTONIC && access_same_namespace(c->l->w, c->t->pid, "time") != 0)
		now_ns = c->l->w->mono_ns();
	else if (clock == CLOCK_REALTIME)
		now_ns = (uint64_t)c->l->w->unix_ms() * NS_PER_MS;
	if (now_ns)
		c->t->left_ns = sub_floor(time_ns(ts.tv_sec, ts.tv_nsec, NS_PER_S), now_ns);
}

static void limit_futex(struct waiting *c)
{
	const uint64_t *arg = c->tw->arg;
	const uint64_t op = arg[1] & (uint64_t)FUTEX_CMD_MASK;
	if (arg[3] == 0)
		return;
	if (op == FUTEX_WAIT)
		limit_spec(c, arg[3]);
	else if (op == FUTEX_LOCK_PI)
		limit_until(c, arg[3], CLOCK_REALTIME);
	else if (op == FUTEX_WAIT_BITSET || op == FUTEX_WAIT_REQUEUE_PI || op == FUTEX_LOCK_PI2)
		limit_until(c, arg[3], arg[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC);
}

static void limit_value(struct waiting *c, uint64_t addr)
{
	struct timeval tv;
	c->t->timed = true;
	if (waiting_memory(c, addr, &tv, sizeof(tv)))
		c->t->limit_ns = time_ns(tv.tv_sec, tv.tv_usec, 1000000);
}

static void limit_take(struct waiting *c, enum limit_shape shape, size_t argument)
{
	const uint64_t value = c->tw->arg[argument];
	if (shape == LIMIT_MS) {
		c->t->timed = (int32_t)value >= 0;
		c->t->limit_ns = c->t->timed ? (uint64_t)(uint32_t)value * NS_PER_MS : 0;
	} else if (value == 0) {
		return;
	} else if (shape == LIMIT_SPEC) {
		limit_spec(c, value);
	} else if (shape == LIMIT_VAL) {
		limit_value(c, value);
	} else {
		limit_until(c, value, shape == LIMIT_UNTIL ? c->tw->arg[argument + 1] : CLOCK_REALTIME);
	}
}

void waiting_limit(struct waiting *c)
{
	if (!c->tw->has_syscall)
		return;
	if (c->tw->nr == SYS_futex) {
		limit_futex(c);
	} else if (c->tw->nr == SYS_clock_nanosleep) {
		if (c->tw->arg[1] & TIMER_ABSTIME)
			limit_until(c, c->tw->arg[2], c->tw->arg[0]);
		else
			limit_spec(c, c->tw->arg[2]);
	} else if (c->tw->nr == SYS_restart_syscall) {
		c->t->timed = true; /* mostly; the call is not known */
	}
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (limits[i].nr == c->tw->nr)
			limit_take(c, limits[i].shape, limits[i].argument);
}

bool waiting_lease(struct waiting *c)
{
	char text[32];
	size_t len;
	uint64_t seconds;
	const char *wchan = waiting_wchan(c);
	if (strcmp(wchan, "__break_lease") != 0 && strcmp(wchan, "break_lease") != 0)
		return false;
	/* 0: the kernel waits without an end until the lease is given up. */
	if (file_read_at(c->l->w->proc_fd, "sys/fs/lease-break-time", text, sizeof(text), &len) == 0 &&
	    span_u64(span_trim((struct span){text, len}), &seconds) == 0 && seconds > 0) {
		c->t->timed = true;
		c->t->limit_ns = time_ns((int64_t)MIN(seconds, (uint64_t)INT32_MAX), 0, 1);
	}
	return true;
}

/* ---- options of sockets ---- */

/* Data that the other side does not take: TCP_USER_TIMEOUT ends the connection then, and with it any wait for it. */
static bool has_untaken_data(const struct waitlook *l, const struct pend *p, const struct waitfact *f)
{
	const struct sockpeer *s = f->kind == WAITFACT_TCP ? sockpeer_find(&l->socks, p->own.number) : NULL;
	return s && (f->to_write || s->send_queue_bytes > 0);
}

static bool has_option(const struct waitlook *l, const struct pend *p)
{
	return p->kind == PEND_SOCKET && (p->blocks || has_untaken_data(l, p, &l->f->fact[p->fact]));
}

static bool sends(const struct waitfact *f)
{
	return f->to_write || f->kind == WAITFACT_CONNECT;
}

static void option_take(struct waitlook *l, const struct pend *p, const struct socklimit *s)
{
	struct waitfact *f = &l->f->fact[p->fact];
	const uint64_t user_ns = s->known && has_untaken_data(l, p, f) ? s->user_ns : 0;
	const uint64_t limit_ns = s->known && s->limit_ns ? s->limit_ns : user_ns;
	f->unasked = !s->known;
	if (!s->known || user_ns > 0)
		f->complete = false;
	if (!p->blocks || limit_ns == 0 || p->thread >= l->f->n_threads)
		return;
	l->f->thread[p->thread].timed = true;
	l->f->thread[p->thread].limit_ns = limit_ns;
}

void waitlook_options(struct waitlook *l)
{
	cleanup(freep) struct socklimit *ask = NULL;
	size_t n = 0, at = 0;
	if (l->w->recorded)
		return;
	for (size_t i = 0; i < l->n_pend; i++)
		n += has_option(l, &l->pend[i]);
	ask = calloc(MIN(n, (size_t)SOCKETS_MOST) + 1, sizeof(*ask));
	if (!ask) {
		l->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < l->n_pend && at < SOCKETS_MOST; i++) {
		const struct pend *p = &l->pend[i];
		if (has_option(l, p))
			ask[at++] = (struct socklimit){.pid = p->pid,
						       .fd = p->fd,
						       .inode = p->own.number,
						       .sends = sends(&l->f->fact[p->fact])};
	}
	socklimit_read(l->w, ask, at);
	at = 0;
	for (size_t i = 0; i < l->n_pend; i++)
		if (has_option(l, &l->pend[i])) {
			if (at < MIN(n, (size_t)SOCKETS_MOST))
				option_take(l, &l->pend[i], &ask[at]);
			else
				option_take(l, &l->pend[i], &(struct socklimit){.known = false});
			at++;
		}
}
