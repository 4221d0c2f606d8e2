#include "agent/incident/prefetch.h"

#include <pthread.h>
#include <string.h>

#include "sense/proc/proc.h"
#include "sense/proc/procsize.h"

#define PIDS_MAX 16
/* Sizes older than this are not used: the process grows. */
static const int64_t worth_telling_ms = 60000;
/* Rounds take at most 1/50 of the time. */
static const uint64_t again_ns = 1 * NS_PER_S;
#define ROUND_SHARE 50
static const uint64_t shm_budget_ns = 20 * NS_PER_MS;

struct size_seen {
	pid_t pid;
	uint64_t start_ticks;
	struct procsize size;
	int64_t unix_ms;
};

struct prefetch {
	const struct world *w;
	pthread_mutex_t lock;
	bool running, abandoned; /* abandoned: the thread frees it */
	uint64_t asked_ns, took_ns;
	uint32_t rounds;
	pid_t pid[PIDS_MAX];
	size_t n_pids;
	struct size_seen seen[PIDS_MAX];
	size_t n_seen;
	struct shmheld shm[INCIDENT_SHM];
	size_t n_shm;
	int64_t shm_unix_ms;
};

struct prefetch *prefetch_new(const struct world *w)
{
	struct prefetch *f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->w = w;
	pthread_mutex_init(&f->lock, NULL);
	return f;
}

static void destroy(struct prefetch *f)
{
	pthread_mutex_destroy(&f->lock);
	free(f);
}

static bool abandoned(struct prefetch *f)
{
	pthread_mutex_lock(&f->lock);
	bool yes = f->abandoned;
	pthread_mutex_unlock(&f->lock);
	return yes;
}

/* The start time is read before the size. A pid that is reused in between is then noticed when the size is used. */
static bool size_read(const struct world *w, pid_t pid, struct size_seen *ret)
{
	struct proc_stat st;
	struct procsize size;
	if (proc_stat_read(w, pid, &st) != 0 || procsize_read(w, pid, &size) != 0)
		return false;
	*ret = (struct size_seen){pid, st.start_ticks, size, w->unix_ms()};
	return true;
}

static void *round_run(void *arg)
{
	struct prefetch *f = arg;
	struct size_seen seen[PIDS_MAX];
	struct shmheld shm[INCIDENT_SHM];
	size_t n_seen = 0, n_shm = 0;
	for (size_t i = 0; i < f->n_pids && !abandoned(f); i++)
		n_seen += size_read(f->w, f->pid[i], &seen[n_seen]);
	if (!abandoned(f))
		n_shm = shmheld_read(f->w, f->pid, f->n_pids, shm_budget_ns, shm);
	pthread_mutex_lock(&f->lock);
	memcpy(f->seen, seen, n_seen * sizeof(seen[0]));
	memcpy(f->shm, shm, n_shm * sizeof(shm[0]));
	f->n_seen = n_seen;
	f->n_shm = n_shm;
	f->shm_unix_ms = f->w->unix_ms();
	f->rounds++;
	f->took_ns = f->w->mono_ns() - f->asked_ns;
	f->running = false;
	bool mine = f->abandoned;
	pthread_mutex_unlock(&f->lock);
	if (mine)
		destroy(f);
	return NULL;
}

void prefetch_ask(struct prefetch *f, const pid_t *pids, size_t n)
{
	pthread_t thread;
	uint64_t now = f->w->mono_ns();
	pthread_mutex_lock(&f->lock);
	bool wanted = !f->running && (f->asked_ns == 0 || now - f->asked_ns >= MAX(again_ns, f->took_ns * ROUND_SHARE));
	pthread_mutex_unlock(&f->lock);
	if (!wanted)
		return;
	f->n_pids = 0;
	for (size_t i = 0; i < n && f->n_pids < PIDS_MAX; i++)
		if (pids[i] > 0)
			f->pid[f->n_pids++] = pids[i];
	if (f->n_pids == 0)
		return;
	f->asked_ns = now;
	f->running = true;
	if (pthread_create(&thread, NULL, round_run, f) == 0)
		pthread_detach(thread);
	else
		f->running = false;
}

uint32_t prefetch_rounds(struct prefetch *f)
{
	pthread_mutex_lock(&f->lock);
	uint32_t n = f->rounds;
	pthread_mutex_unlock(&f->lock);
	return n;
}

static void tell_size(const struct size_seen *s, const struct world *w, struct incident *in)
{
	struct proc_stat st;
	int64_t age_ms = in->time_unix_ms - s->unix_ms;
	if (age_ms > worth_telling_ms)
		return;
	/* compare start times: a victim that is gone has none, and a reused pid has another one */
	if (proc_stat_read(w, s->pid, &st) == 0 && st.start_ticks != s->start_ticks)
		return;
	for (size_t i = 0; i < in->n_top; i++) {
		struct incident_process *p = &in->top[i];
		if (p->pid != s->pid || p->has_pss)
			continue;
		p->has_pss = true;
		p->pss_bytes = s->size.pss_bytes;
		p->private_bytes = s->size.private_bytes;
		p->pss_sampled = s->size.sampled;
		p->pss_age_ms = (uint32_t)MAX(age_ms, 0);
	}
}

void prefetch_tell(struct prefetch *f, const struct world *w, const struct shmheld_job *job, struct incident *in)
{
	struct shmheld shm[INCIDENT_SHM];
	size_t n_shm = 0;
	if (f) {
		pthread_mutex_lock(&f->lock);
		for (size_t i = 0; i < f->n_seen; i++)
			tell_size(&f->seen[i], w, in);
		if (in->time_unix_ms - f->shm_unix_ms <= worth_telling_ms) {
			n_shm = f->n_shm;
			memcpy(shm, f->shm, n_shm * sizeof(shm[0]));
		}
		pthread_mutex_unlock(&f->lock);
	}
	shmheld_report(w, shm, n_shm, job, in);
}

struct prefetch *prefetch_free(struct prefetch *f)
{
	if (!f)
		return NULL;
	pthread_mutex_lock(&f->lock);
	bool running = f->running;
	f->abandoned = true;
	pthread_mutex_unlock(&f->lock);
	if (!running)
		destroy(f);
	return NULL;
}
