#include "agent/output/pump.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/file.h"

enum { KEY_WAKE = 1, KEY_OUT, KEY_ERR, KEY_TEES = 100 };

/* A rush of output that the disk does not follow is looked at this often once it is over. */
static const int stalled_look_ms = 500;

static void *pump_main(void *arg);

int pump_start(struct pump *p, int news_fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = KEY_WAKE};
	sigset_t all, old;
	p->news_fd = news_fd;
	p->pid = getpid();
	(void)pthread_mutex_init(&p->lock, NULL);
	(void)pthread_mutex_init(&p->next, NULL);
	p->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->epoll_fd < 0 || p->wake_fd < 0 || epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, p->wake_fd, &ev) < 0)
		return -errno;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = pthread_create(&p->thread, NULL, pump_main, p);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	p->started = r == 0;
	return -r;
}

void pump_lock(struct pump *p)
{
	(void)pthread_mutex_lock(&p->next);
	(void)pthread_mutex_lock(&p->lock);
	(void)pthread_mutex_unlock(&p->next);
}

static void wake(int fd)
{
	const uint64_t one = 1;
	ignore(write(fd, &one, sizeof(one)), "it is awake already");
}

static void poll_outlet(struct pump *p, const struct outbuf *o, uint64_t key, bool *polled)
{
	bool want = outbuf_waits(o);
	struct epoll_event ev = {.events = EPOLLOUT, .data.u64 = key};
	if (want == *polled)
		return;
	(void)epoll_ctl(p->epoll_fd, want ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, o->fd, &ev);
	*polled = want;
}

/* Remove it from epoll instead of masking it: the end of the job's output would wake us again and again. */
static void poll_tee(struct pump *p, uint32_t i)
{
	struct tee *t = p->tee[i];
	bool want = t->from_fd >= 0 && !outbuf_is_full(t->to);
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = KEY_TEES + i};
	if (want == t->polled)
		return;
	if (want || t->from_fd >= 0)
		(void)epoll_ctl(p->epoll_fd, want ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, t->from_fd, &ev);
	t->polled = want;
}

static void poll_all(struct pump *p)
{
	poll_outlet(p, &p->out, KEY_OUT, &p->out_polled);
	poll_outlet(p, &p->err, KEY_ERR, &p->err_polled);
	for (uint32_t i = 0; i < p->n; i++)
		poll_tee(p, i);
}

void pump_unlock(struct pump *p)
{
	bool rushing = false;
	poll_all(p);
	for (uint32_t i = 0; i < p->n; i++)
		rushing |= tee_is_rushing(p->tee[i]);
	(void)pthread_mutex_unlock(&p->lock);
	if (rushing) /* it has to look after a while */
		wake(p->wake_fd);
}

static void reader_push(struct pump *p, struct outbuf *o)
{
	if (outbuf_push(o) == 0)
		return;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->tee[i]->to == o)
			tee_close(p->tee[i]);
}

/* Returns how long the thread may wait; -1: for ever. */
static int pump_look(struct pump *p)
{
	const uint64_t now = clock_mono_ns();
	int ms = -1;
	for (uint32_t i = 0; i < p->n; i++) {
		struct tee *t = p->tee[i];
		if (!tee_is_rushing(t))
			continue;
		tee_look(t);
		if (tee_is_rushing(t))
			ms = now - t->rush.last_ns < NS_PER_S || ms == TEE_LOOK_MS ? TEE_LOOK_MS : stalled_look_ms;
	}
	return ms;
}

static void handle(struct pump *p, uint64_t key)
{
	uint64_t count;
	if (key == KEY_WAKE)
		ignore(read(p->wake_fd, &count, sizeof(count)), "only the wake-up counts");
	else if (key == KEY_OUT)
		reader_push(p, &p->out);
	else if (key == KEY_ERR)
		reader_push(p, &p->err);
	else if (key - KEY_TEES < p->n)
		(void)tee_pump(p->tee[key - KEY_TEES]);
}

static uint32_t tees_open(const struct pump *p)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->n; i++)
		n += p->tee[i]->from_fd >= 0;
	return n;
}

static void *pump_main(void *arg)
{
	struct pump *p = arg;
	int ms = -1;
	while (!atomic_load(&p->stop)) {
		struct epoll_event ev[32];
		int n = epoll_wait(p->epoll_fd, ev, ARRAY_SIZE(ev), ms);
		pump_lock(p);
		const uint32_t open = tees_open(p);
		for (int i = 0; i < n; i++)
			handle(p, ev[i].data.u64);
		ms = pump_look(p);
		poll_all(p);
		if (tees_open(p) != open)
			wake(p->news_fd);
		(void)pthread_mutex_unlock(&p->lock);
	}
	return NULL;
}

void pump_forget(struct pump *p)
{
	p->n = 0;
}

void pump_add(struct pump *p, struct tee *t)
{
	if (p->n < ARRAY_SIZE(p->tee))
		p->tee[p->n++] = t;
}

void pump_stop(struct pump *p)
{
	if (!p->started)
		return;
	atomic_store(&p->stop, true);
	wake(p->wake_fd);
	(void)pthread_join(p->thread, NULL);
	p->started = false;
	closep(&p->epoll_fd);
	closep(&p->wake_fd);
}
