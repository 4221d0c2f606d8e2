#include "agent/memory/toprows.h"

#include <pthread.h>

#include "base/buf.h"
#include "sense/proc/proc.h"
#include "sense/proc/procsize.h"

struct top_row {
	pid_t pid;
	bool has_size;
	struct procsize size;
	char command[200];
};

struct top_work {
	const struct world *w;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct top_row row[INCIDENT_TOP];
	size_t n, done;
	uint64_t end_ns;
	bool over, abandoned; /* abandoned: the caller does not wait any more, the thread frees this */
};

static void top_work_free(struct top_work *k)
{
	pthread_cond_destroy(&k->more);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

static void *top_work_run(void *arg)
{
	struct top_work *k = arg;
	bool stop = false;
	for (size_t i = 0; i < k->n && !stop && k->w->mono_ns() < k->end_ns; i++) {
		struct top_row row = {.pid = k->row[i].pid};
		row.has_size = procsize_read(k->w, row.pid, &row.size) == 0;
		if (!row.has_size || proc_command_read(k->w, row.pid, row.command, sizeof(row.command)) != 0)
			row.command[0] = '\0';
		pthread_mutex_lock(&k->lock);
		k->row[i] = row;
		k->done = i + 1;
		stop = k->abandoned;
		pthread_mutex_unlock(&k->lock);
	}
	pthread_mutex_lock(&k->lock);
	bool mine = k->abandoned;
	k->over = true;
	pthread_cond_signal(&k->more);
	pthread_mutex_unlock(&k->lock);
	if (mine)
		top_work_free(k);
	return NULL;
}

static struct top_work *top_work_new(const struct world *w, const struct incident_process *rows, size_t n)
{
	struct top_work *k = calloc(1, sizeof(*k));
	pthread_condattr_t attr;
	if (!k)
		return NULL;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->more, &attr);
	pthread_condattr_destroy(&attr);
	k->w = w;
	k->n = MIN(n, (size_t)INCIDENT_TOP);
	for (size_t i = 0; i < k->n; i++)
		k->row[i].pid = rows[i].pid;
	return k;
}

static void toprows_row_take(const struct top_row *row, struct incident_process *p)
{
	if (row->has_size) {
		p->has_pss = true;
		p->pss_bytes = row->size.pss_bytes;
		p->private_bytes = row->size.private_bytes;
		p->pss_sampled = row->size.sampled;
	}
	if (row->command[0])
		TEXT_COPY(p->command, row->command);
}

void toprows_read(const struct world *w, struct incident_process *rows, size_t n, uint64_t budget_ns)
{
	struct top_work *k = n > 0 ? top_work_new(w, rows, n) : NULL;
	pthread_t thread;
	if (!k)
		return;
	k->end_ns = w->mono_ns() + budget_ns;
	struct timespec until = {.tv_sec = (time_t)(k->end_ns / NS_PER_S), .tv_nsec = (long)(k->end_ns % NS_PER_S)};
	if (pthread_create(&thread, NULL, top_work_run, k) != 0) {
		top_work_free(k);
		return;
	}
	pthread_detach(thread);
	pthread_mutex_lock(&k->lock);
	while (!k->over && pthread_cond_timedwait(&k->more, &k->lock, &until) == 0)
		continue;
	for (size_t i = 0; i < k->done; i++)
		toprows_row_take(&k->row[i], &rows[i]);
	bool over = k->over;
	k->abandoned = !over;
	pthread_mutex_unlock(&k->lock);
	if (over)
		top_work_free(k);
}
