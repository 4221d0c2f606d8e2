#include "agent/memory/sharing.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "sense/proc/proc.h"
#include "sense/proc/procsize.h"

static const uint64_t short_ns = 1 * NS_PER_S, idle_ns = 5 * NS_PER_S;
#define SHORT_SHARE 50
#define IDLE_SHARE 2000

/* Of processes larger than this a sample of the pages is read (sense/proc/procsize). */
static const uint64_t walked_bytes = 1 * GIB;

struct sharing {
	const struct world *w;
	struct guard_shm *shm;
	pthread_mutex_t lock;
	bool running, abandoned; /* abandoned: the thread frees it, and writes nothing any more */
	uint64_t asked_ns, took_ns;
	struct unit_share row[UNIT_SHARES];
	size_t n;
};

struct sharing *sharing_new(const struct world *w, struct guard_shm *shm)
{
	struct sharing *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->w = w;
	s->shm = shm;
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

static void sharing_destroy(struct sharing *s)
{
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* False: it cannot be read, or is another process by now. */
static bool share_read(const struct world *w, struct unit_share *s)
{
	struct proc_stat st;
	struct proc_status before;
	struct proc_rollup walked;
	struct procsize size;
	if (proc_stat_read(w, s->pid, &st) != 0 || st.start_ticks != s->start_ticks ||
	    proc_status_read(w, s->pid, &before) != 0 || !before.has_memory)
		return false;
	s->mono_ns = w->mono_ns();
	s->faulted_bytes = (st.minor_faults + st.major_faults) * w->page_bytes;
	s->anon_bytes = before.rss_anon_bytes;
	if (before.rss_bytes > walked_bytes) {
		if (procsize_sampled_read(w, s->pid, before.rss_bytes, &size) != 0)
			return false;
		s->pss_bytes = size.pss_bytes;
		s->private_bytes = size.private_bytes;
	} else {
		if (proc_rollup_read(w, s->pid, &walked) != 0)
			return false;
		s->pss_bytes = walked.pss_anon_bytes ? walked.pss_anon_bytes : walked.pss_bytes;
		s->private_bytes = walked.private_bytes;
	}
	s->pss_bytes = MIN(s->pss_bytes, s->anon_bytes);
	s->private_bytes = MIN(s->private_bytes, s->anon_bytes);
	return true;
}

static void shares_publish(struct sharing *s, size_t n)
{
	struct guard_sharing *to = &s->shm->sharing;
	(void)atomic_fetch_add(&to->seen_seq, 1);
	memcpy(to->seen, s->row, n * sizeof(s->row[0]));
	to->n_seen = (uint32_t)n;
	(void)atomic_fetch_add(&to->seen_seq, 1);
}

static void *sharing_round(void *arg)
{
	struct sharing *s = arg;
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++) {
		pthread_mutex_lock(&s->lock);
		bool stop = s->abandoned;
		pthread_mutex_unlock(&s->lock);
		if (stop)
			break;
		if (share_read(s->w, &s->row[i]))
			s->row[n++] = s->row[i];
	}
	uint64_t cpu_ns = clock_thread_ns();
	pthread_mutex_lock(&s->lock);
	bool mine = s->abandoned;
	/* a part of the family says nothing: the parts of those left out are missing in the sum */
	if (!mine && n == s->n)
		shares_publish(s, n);
	s->took_ns = cpu_ns; /* on a busy machine a round lasts longer than what it costs */
	s->running = false;
	pthread_mutex_unlock(&s->lock);
	if (mine)
		sharing_destroy(s);
	return NULL;
}

static bool want_take(struct sharing *s)
{
	const struct guard_sharing *from = &s->shm->sharing;
	uint32_t before = atomic_load(&from->want_seq);
	if (before & 1)
		return false;
	s->n = MIN(from->n_want, (uint32_t)UNIT_SHARES);
	memcpy(s->row, from->want, s->n * sizeof(s->row[0]));
	return s->n > 0 && atomic_load(&from->want_seq) == before;
}

/*
 * Memory may be short without the guard's knowing it: what is used of the limit of a job without a group is the sum of
 * what its processes are known to have, and forks may have copied all that they share since that was read.
 */
static bool may_be_near(const struct guard_shm *shm)
{
	const struct guard_sharing *from = &shm->sharing;
	uint64_t shared = 0;
	for (size_t i = 0; i < MIN(from->n_want, (uint32_t)UNIT_SHARES); i++)
		shared = add_cap(shared, sub_floor(from->want[i].anon_bytes, from->want[i].pss_bytes));
	for (size_t j = 0; j < MIN(shm->n_jobs, (uint32_t)UNIT_JOBS_MAX); j++) {
		const struct guard_job *job = &shm->jobs[j];
		if (!job->unit.active || job->has_group || job->limit_bytes == CGROUP_NO_LIMIT)
			continue;
		uint64_t act = guard_threshold(&shm->settings, job->limit_bytes);
		uint64_t warn = sub_floor(act, sub_floor(job->limit_bytes, act));
		if (add_cap(shm->now.job_bytes[j], shared) >= warn)
			return true;
	}
	return false;
}

void sharing_refresh(struct sharing *s)
{
	pthread_t thread;
	uint64_t now = s->w->mono_ns();
	if (s->shm->sharing.n_want == 0 || guard_case_pending(s->shm))
		return;
	bool near = s->shm->now.state >= GUARD_WARN || may_be_near(s->shm);
	pthread_mutex_lock(&s->lock);
	uint64_t due = MAX(near ? short_ns : idle_ns, s->took_ns * (near ? SHORT_SHARE : IDLE_SHARE));
	bool wanted = !s->running && (s->asked_ns == 0 || now - s->asked_ns >= due);
	pthread_mutex_unlock(&s->lock);
	if (!wanted || !want_take(s))
		return;
	s->asked_ns = now;
	s->running = true;
	if (pthread_create(&thread, NULL, sharing_round, s) == 0)
		pthread_detach(thread);
	else
		s->running = false;
}

struct sharing *sharing_free(struct sharing *s)
{
	if (!s)
		return NULL;
	pthread_mutex_lock(&s->lock);
	bool running = s->running;
	s->abandoned = true;
	pthread_mutex_unlock(&s->lock);
	if (!running)
		sharing_destroy(s);
	return NULL;
}
