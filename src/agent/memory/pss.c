#include "agent/memory/pss.h"

#include <pthread.h>

#include "sense/proc/proc.h"

#define PSS_MAX 64

struct pss_work {
	const struct world *w;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	pid_t pid[PSS_MAX];
	enum footprint_pss state[PSS_MAX];
	uint64_t bytes[PSS_MAX], anon_bytes[PSS_MAX];
	size_t n, done;
	uint64_t until_ns; /* when the caller waits no longer */
	bool abandoned; /* the caller does not wait any more: the thread frees this */
};

static void work_free(struct pss_work *k)
{
	pthread_cond_destroy(&k->ended);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

static void *work_run(void *arg)
{
	struct pss_work *k = arg;
	bool stop = false;
	for (size_t i = 0; i < k->n && !stop; i++) {
		struct proc_rollup roll;
		int r = proc_rollup_read(k->w, k->pid[i], &roll);
		pthread_mutex_lock(&k->lock);
		k->state[i] = r == 0 ? PSS_KNOWN : r == WORLD_DENIED ? PSS_DENIED : PSS_NOT_ASKED;
		k->bytes[i] = r == 0 ? roll.pss_bytes : 0;
		k->anon_bytes[i] = r == 0 ? roll.pss_anon_bytes : 0;
		k->done++;
		stop = k->abandoned;
		pthread_mutex_unlock(&k->lock);
	}
	pthread_mutex_lock(&k->lock);
	bool mine = k->abandoned;
	k->done = k->n;
	k->n = 0; /* shows the caller that this thread will not use *k again */
	pthread_cond_signal(&k->ended);
	pthread_mutex_unlock(&k->lock);
	if (mine)
		work_free(k);
	return NULL;
}

static struct pss_work *work_new(const struct world *w, const struct footprint_row *rows, size_t n)
{
	struct pss_work *k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->ended, &attr);
	pthread_condattr_destroy(&attr);
	k->w = w;
	k->n = MIN(n, (size_t)PSS_MAX);
	for (size_t i = 0; i < k->n; i++) {
		k->pid[i] = rows[i].pid;
		k->state[i] = PSS_LATE;
	}
	return k;
}

struct pss_work *pss_begin(const struct world *w, const struct footprint_row *rows, size_t n, uint64_t budget_ns)
{
	struct pss_work *k = n ? work_new(w, rows, n) : NULL;
	pthread_t thread;
	if (!k)
		return NULL;
	k->until_ns = add_cap(w->mono_ns(), budget_ns);
	if (pthread_create(&thread, NULL, work_run, k) != 0) {
		work_free(k);
		return NULL;
	}
	pthread_detach(thread);
	return k;
}

/* Ends with the lock held. */
static void work_wait(struct pss_work *k, uint64_t until_ns)
{
	struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S), .tv_nsec = (long)(until_ns % NS_PER_S)};
	pthread_mutex_lock(&k->lock);
	while (k->n != 0 && pthread_cond_timedwait(&k->ended, &k->lock, &until) == 0)
		;
}

/* Begins with the lock held. */
static void work_leave(struct pss_work *k)
{
	bool finished = k->n == 0;
	k->abandoned = !finished;
	pthread_mutex_unlock(&k->lock);
	if (finished)
		work_free(k);
}

size_t pss_take(struct pss_work *k, struct footprint_row *rows, size_t n)
{
	size_t asked = MIN(n, (size_t)PSS_MAX), late = 0;
	if (!k)
		return asked;
	work_wait(k, k->until_ns);
	for (size_t i = 0; i < asked; i++) {
		rows[i].pss = k->state[i];
		rows[i].pss_bytes = k->bytes[i];
		/* kernels before 5.4 do not tell the parts apart: 0 */
		if (k->state[i] == PSS_KNOWN && k->anon_bytes[i] > 0)
			rows[i].own_bytes = MIN(rows[i].own_bytes, k->anon_bytes[i]);
		late += k->state[i] == PSS_LATE ? 1 : 0;
	}
	work_leave(k);
	return late;
}

struct pss_work *pss_drop(struct pss_work *k)
{
	if (!k)
		return NULL;
	pthread_mutex_lock(&k->lock);
	work_leave(k);
	return NULL;
}

size_t pss_read(const struct world *w, struct footprint_row *rows, size_t n, uint64_t budget_ns)
{
	return pss_take(pss_begin(w, rows, n, budget_ns), rows, n);
}
