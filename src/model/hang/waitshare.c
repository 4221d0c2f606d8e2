#include "model/hang/waitshare.h"

#include <string.h>

#include "base/buf.h"
#include "sense/death/facts.h"

static struct waitshare_rank *waitshare_find(struct waitshare *w, int32_t rank)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->rank[i].rank == rank)
			return &w->rank[i];
	return NULL;
}

static struct waitshare_rank *waitshare_find_or_add(struct waitshare *w, int32_t rank)
{
	struct waitshare_rank *r = waitshare_find(w, rank);
	if (r || w->n == WAITSHARE_RANKS)
		return r;
	w->rank[w->n] = (struct waitshare_rank){.rank = rank};
	return &w->rank[w->n++];
}

static void count(struct waitshare_rank *r, const struct dump_thread *t, bool for_ranks)
{
	struct activity_found found;
	activity_of(t, &found);
	r->n++;
	/* A call or a frame says what it did before it was stopped. */
	if (t->wait.kind == WAIT_STOPPED)
		r->stopped++;
	else if (for_ranks || activity_waits_for_ranks(found.kind))
		r->ranks++;
	else if (found.kind == ACTIVITY_GPU_SYNC)
		r->gpu++;
	else if (found.kind == ACTIVITY_LOADER_WAIT)
		r->loader++;
	else if (found.kind == ACTIVITY_SLEEP)
		r->sleeping++;
	else if (t->wait.kind == WAIT_RUNNING || t->wait.kind == WAIT_UNKNOWN)
		r->running++;
	else if (t->wait.kind == WAIT_MEMORY)
		r->memory++;
	else
		r->other++;
}

void waitshare_add(struct waitshare *w, const struct stackdump *d, const uint8_t *signs)
{
	w->samples++;
	for (size_t i = 0; i < d->n; i++) {
		const struct dump_process *p = &d->processes[i];
		bool is_main = p->rank != NO_RANK && (!p->role[0] || strcmp(p->role, "main") == 0);
		uint8_t sign = signs ? signs[i] : 0;
		bool has_stack = p->n_threads > 0 && (p->threads[0].n_frames > 0 || sign & WAITSHARE_NATIVE);
		struct waitshare_rank *r = is_main && has_stack ? waitshare_find_or_add(w, p->rank) : NULL;
		if (r)
			count(r, &p->threads[0], sign & WAITSHARE_FOR_RANKS);
	}
}

void waitshare_whom(struct waitshare *w, int32_t rank, const char *whom)
{
	struct waitshare_rank *r = waitshare_find(w, rank);
	size_t at = 0;
	if (!r)
		return;
	for (size_t i = 0; i < WAITSHARE_WHOMS; i++) {
		if (r->whom[i].n > 0 && strcmp(r->whom[i].text, whom) == 0) {
			r->whom[i].n++;
			return;
		}
		if (r->whom[i].n < r->whom[at].n)
			at = i;
	}
	TEXT_COPY(r->whom[at].text, whom);
	r->whom[at].n = 1;
}

const char *waitshare_usual_whom(const struct waitshare_rank *r)
{
	const struct waitshare_whom *best = &r->whom[0];
	for (size_t i = 1; i < WAITSHARE_WHOMS; i++)
		if (r->whom[i].n > best->n)
			best = &r->whom[i];
	return best->text;
}

void waitshare_quota(struct waitshare *w, int32_t rank, double cores, uint64_t periods, uint64_t throttled)
{
	struct waitshare_rank *r = waitshare_find(w, rank);
	if (!r)
		return;
	r->quota_cores = cores;
	r->periods = periods;
	r->throttled = throttled;
}

double waitshare_throttled(const struct waitshare_rank *r)
{
	return r->periods > 0 ? (double)MIN(r->throttled, r->periods) / (double)r->periods : 0;
}

double waitshare_waiting(const struct waitshare_rank *r)
{
	return r->n > 0 ? (double)r->ranks / (double)r->n : 0;
}
