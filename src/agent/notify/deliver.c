#include "agent/notify/deliver.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>

#include "agent/notify/dispatch.h"
#include "agent/host/host.h"
#include "base/buf.h"
#include "base/clock.h"
#include "judge/notify/notify.h"

/* Longest wait for which a worker process stays. */
#define LINGER_MS 1000
/* Times between two scans of the spool, with and without a worker at work. */
#define SCAN_MS 50
#define IDLE_SCAN_MS 500
/* Longest time that the messages under way at the end may take; a channel's timeout is 120 s at most. */
#define LAST_MESSAGE_NS (130 * NS_PER_S)

/* What a worker reports to its parent, in shared memory. */
struct channel_note {
	int64_t due_ms; /* the channel rests until then … */
	size_t left; /* … unless more notices than this wait */
	uint64_t delivered;
};

struct worker {
	const struct channel *channel;
	const struct deliver_how *how;
	struct spool spool;
	struct notify_rules rules;
	struct delivery delivery;
	struct channel_note *note;
	uint64_t end_ns; /* no message is started after it */
	struct spool_entry entry[NOTIFY_ITEMS];
	struct notice notice[NOTIFY_ITEMS];
	struct notify_item item[NOTIFY_ITEMS];
	size_t n;
	char node[80];
};

static double random_ratio(void)
{
	uint32_t v = 0;
	ignore(getrandom(&v, sizeof(v), GRND_NONBLOCK), "0 is a throw as well");
	return (double)v / UINT32_MAX;
}

static int deliver_load(struct worker *w)
{
	cleanup(spool_list_done) struct spool_list all;
	int r = spool_scan(&w->spool, clock_unix_ms(), &all);
	w->n = 0;
	for (size_t i = 0; r == 0 && i < all.n && w->n < NOTIFY_ITEMS; i++) {
		if (strcmp(all.entry[i].channel, w->channel->name) != 0)
			continue;
		if (spool_read(&w->spool, all.entry[i].file, &w->notice[w->n]) != 0)
			continue;
		w->entry[w->n] = all.entry[i];
		w->item[w->n] = (struct notify_item){
			.key = w->notice[w->n].key, .id = w->notice[w->n].id, .resolved = w->notice[w->n].resolved};
		w->n++;
	}
	w->note->left = w->n < NOTIFY_ITEMS ? w->n : SIZE_MAX;
	return r;
}

static void drop_taken(struct worker *w, const struct notify_step *step)
{
	for (size_t i = 0; i < w->n; i++)
		if (step->taken[i])
			spool_drop(&w->spool, w->entry[i].file);
}

/* Combines the notices that the step takes into one. */
static void merge(const struct worker *w, const struct notify_step *step, int64_t now_ms, struct notice *ret)
{
	/* notices of one key combined, before they join a digest; static because it is large */
	static struct notice folded;
	bool digest = step->act == NOTIFY_DIGEST, begun = false;
	if (digest)
		notice_digest_begin(w->node, now_ms, ret);
	for (size_t i = 0; i < w->n; i++) {
		if (!step->taken[i])
			continue;
		if (!digest && !begun) {
			*ret = w->notice[i];
			begun = true;
			continue;
		}
		if (!digest) {
			notice_fold(ret, &w->notice[i]);
			continue;
		}
		bool again = false;
		for (size_t k = 0; k < i; k++)
			again |= step->taken[k] && strcmp(w->notice[k].key, w->notice[i].key) == 0 &&
				 w->notice[k].resolved == w->notice[i].resolved;
		if (again)
			continue;
		folded = w->notice[i];
		for (size_t k = i + 1; k < w->n; k++)
			if (step->taken[k] && strcmp(w->notice[k].key, folded.key) == 0 &&
			    w->notice[k].resolved == folded.resolved)
				notice_fold(&folded, &w->notice[k]);
		notice_digest_add(ret, &folded);
	}
}

/* False: the channel is to rest for now. */
static bool send_step(struct worker *w, const struct notify_step *step)
{
	static struct notice message;
	struct dispatch d;
	merge(w, step, clock_unix_ms(), &message);
	dispatch_now(w->channel, &message, clock_unix_ms(), &d);
	int64_t now = clock_unix_ms();
	if (d.outcome == NOTIFY_ARRIVED) {
		notify_delivered(&w->delivery, &w->rules, w->item, w->n, step, now);
		w->note->delivered++;
	} else if (d.outcome == NOTIFY_REFUSED) {
		notify_refused(&w->delivery, &w->rules, now);
	} else {
		notify_failed(&w->delivery, now, d.retry_after_ms, random_ratio());
	}
	if (d.outcome != NOTIFY_ARRIVED)
		TEXT_COPY(w->delivery.trouble, d.why);
	/*
	 * The delivery is recorded before its notices are removed, so that a crash between the two sends nothing twice.
	 */
	ignore(spool_delivery_write(&w->spool, w->channel->name, &w->delivery),
	       "a full disk: it is remembered while we live");
	if (d.outcome != NOTIFY_TRY_AGAIN)
		drop_taken(w, step);
	return d.outcome != NOTIFY_TRY_AGAIN || !w->how->once;
}

static void work(struct worker *w)
{
	int lock = -1;
	if (spool_lock(&w->spool, w->channel->name, &lock) != 0) {
		w->note->due_ms = clock_unix_ms() + LINGER_MS;
		w->note->left = SIZE_MAX;
		return;
	}
	spool_delivery_read(&w->spool, w->channel->name, &w->delivery);
	if (w->how->once)
		w->delivery.retry_ms = 0;
	w->note->due_ms = 0;
	for (bool go_on = true; go_on && clock_mono_ns() < w->end_ns && deliver_load(w) == 0;) {
		struct notify_step step;
		int64_t now = clock_unix_ms();
		notify_judge(&w->rules, &w->delivery, w->item, w->n, now, &step);
		switch (step.act) {
		case NOTIFY_IDLE:
			go_on = false;
			break;
		case NOTIFY_DROP:
			drop_taken(w, &step);
			break;
		case NOTIFY_SEND:
		case NOTIFY_DIGEST:
			go_on = send_step(w, &step);
			break;
		case NOTIFY_WAIT:
			w->note->due_ms = step.until_ms;
			go_on = !w->how->once && step.until_ms - now <= LINGER_MS;
			if (go_on)
				(void)poll(NULL, 0, (int)MAX(step.until_ms - now, INT64_C(1)));
			break;
		}
	}
	closep(&lock);
}

struct deliverer {
	const struct channels *all;
	const struct deliver_how *how;
	struct spool spool;
	struct channel_note *note; /* shared with the workers, one for each channel */
	pid_t child[CHANNELS_MAX];
	size_t waiting[CHANNELS_MAX]; /* notices of each channel at the last scan */
	uint64_t end_ns;
	bool tried[CHANNELS_MAX];
	size_t unknown;
};

static int start_worker(struct deliverer *d, size_t i)
{
	pid_t pid = fork();
	if (pid != 0) {
		d->child[i] = MAX(pid, 0);
		d->tried[i] = true;
		return pid < 0 ? -errno : 0;
	}
	/* a worker that outlived its parent would be taken for a process of the job that vigil watches */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	const struct channel *c = &d->all->item[i];
	static struct worker w; /* static because it is large */
	w.channel = c;
	w.how = d->how;
	w.spool = d->spool;
	w.note = &d->note[i];
	w.end_ns = d->end_ns;
	w.rules = (struct notify_rules){.group_ms = d->how->once ? 0 : (int64_t)c->group_ms,
					.repeat_ms = (int64_t)channel_repeat_ms(c),
					.per_minute = c->per_minute,
					.digest = notify_can_digest(c->kind)};
	host_name(w.node, sizeof(w.node));
	work(&w);
	_exit(0);
}

static int deliver_scan(struct deliverer *d)
{
	cleanup(spool_list_done) struct spool_list l;
	int r = spool_scan(&d->spool, clock_unix_ms(), &l);
	memset(d->waiting, 0, sizeof(d->waiting));
	d->unknown = 0;
	for (size_t k = 0; r == 0 && k < l.n; k++) {
		const struct channel *c = channels_find(d->all, l.entry[k].channel);
		if (c)
			d->waiting[c - d->all->item]++;
		else
			d->unknown++;
	}
	return r;
}

static bool wants_worker(const struct deliverer *d, size_t i, int64_t now_ms)
{
	if (d->waiting[i] == 0 || d->child[i] > 0)
		return false;
	if (d->how->once)
		return !d->tried[i];
	/* A due time this far ahead means that the clock was set back. */
	bool far = d->note[i].due_ms > now_ms + NOTIFY_RETRY_AFTER_MAX_MS * 4;
	return d->note[i].due_ms <= now_ms || d->waiting[i] > d->note[i].left || far;
}

/* True while a worker runs, or something falls due before the end. */
static bool step_all(struct deliverer *d, int64_t end_unix_ms)
{
	bool more = false;
	int64_t now = clock_unix_ms();
	for (size_t i = 0; i < d->all->n; i++) {
		if (d->child[i] > 0 && waitpid(d->child[i], NULL, WNOHANG) != 0)
			d->child[i] = 0;
		if (wants_worker(d, i, now))
			ignore(start_worker(d, i), "the next look tries again");
		bool later = !d->how->once && d->waiting[i] > 0 && d->note[i].due_ms < end_unix_ms;
		more |= d->child[i] > 0 || later;
	}
	return more;
}

static bool any_child(const struct deliverer *d)
{
	for (size_t i = 0; i < d->all->n; i++)
		if (d->child[i] > 0)
			return true;
	return false;
}

/* A worker in the middle of a message ends within the channel's timeout. One that does not is left: it ends with us. */
static void workers_end(struct deliverer *d)
{
	const uint64_t until_ns = clock_mono_ns() + LAST_MESSAGE_NS;
	while (any_child(d) && clock_mono_ns() < until_ns) {
		for (size_t i = 0; i < d->all->n; i++)
			if (d->child[i] > 0 && waitpid(d->child[i], NULL, WNOHANG) != 0)
				d->child[i] = 0;
		(void)poll(NULL, 0, SCAN_MS);
	}
}

static int deliver_loop(struct deliverer *d)
{
	d->end_ns = clock_mono_ns() + d->how->lifetime_ns;
	int64_t end_unix_ms = clock_unix_ms() + (int64_t)(d->how->lifetime_ns / NS_PER_MS);
	for (;;) {
		int r = deliver_scan(d);
		if (r < 0)
			return r;
		if (!step_all(d, end_unix_ms))
			return 0;
		if (clock_mono_ns() >= d->end_ns)
			break;
		(void)poll(NULL, 0, any_child(d) ? SCAN_MS : IDLE_SCAN_MS);
	}
	workers_end(d);
	return deliver_scan(d);
}

int deliver_run(const struct channels *all, const char *state_dir, const struct deliver_how *how,
		struct deliver_count *ret)
{
	struct deliverer d = {.all = all, .how = how};
	const size_t size = sizeof(*d.note) * CHANNELS_MAX;
	int lock = -1, r = 0;
	spool_at(&d.spool, state_dir);
	d.note = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (d.note == MAP_FAILED)
		return -errno;
	for (bool again = true; again && r == 0;) {
		r = how->once ? 0 : spool_lock(&d.spool, "", &lock);
		if (r == 0)
			r = deliver_loop(&d);
		closep(&lock);
		/*
		 * A notice may arrive between the last scan and the release of the lock. Its writer saw the lock and
		 * relies on this process, so scan again.
		 */
		size_t before = 0, after = 0;
		for (size_t i = 0; i < all->n; i++)
			before += d.waiting[i];
		again = !how->once && r == 0 && deliver_scan(&d) == 0;
		for (size_t i = 0; i < all->n; i++)
			after += d.waiting[i];
		again &= after > before;
	}
	*ret = (struct deliver_count){.unknown = d.unknown};
	for (size_t i = 0; i < all->n; i++) {
		ret->left += d.waiting[i];
		ret->delivered += d.note[i].delivered;
	}
	(void)munmap(d.note, size);
	return r;
}
