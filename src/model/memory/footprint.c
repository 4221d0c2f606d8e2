#include "model/memory/footprint.h"

#include <string.h>

#include "base/buf.h"

void footprint_done(struct footprint *f)
{
	free(f->rows);
	free(f->shm);
	free(f->ray);
	*f = (struct footprint){.n = 0};
}

static int by_own(const void *a, const void *b)
{
	const struct footprint_row *x = a, *y = b;
	if (x->own_bytes != y->own_bytes)
		return x->own_bytes < y->own_bytes ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static struct footprint_job *job_of(struct footprint *f, const char *id)
{
	for (size_t i = 0; i < f->n_jobs; i++)
		if (strcmp(f->job[i].id, id) == 0)
			return &f->job[i];
	if (!id[0] || f->n_jobs == FOOTPRINT_JOBS)
		return NULL;
	struct footprint_job *j = &f->job[f->n_jobs++];
	*j = (struct footprint_job){.processes = 0};
	TEXT_COPY(j->id, id);
	return j;
}

static int by_held(const void *a, const void *b)
{
	const struct footprint_job *x = a, *y = b;
	uint64_t held_x = add_cap(x->own_bytes, x->shmem_bytes), held_y = add_cap(y->own_bytes, y->shmem_bytes);
	if (held_x != held_y)
		return held_x < held_y ? 1 : -1;
	return strcmp(x->id, y->id);
}

static void jobs_settle(struct footprint *f)
{
	f->n_jobs = 0;
	for (size_t i = 0; i < f->n; i++) {
		const struct footprint_row *row = &f->rows[i];
		struct footprint_job *j = job_of(f, row->job);
		if (!j)
			continue;
		j->processes++;
		j->own_bytes = add_cap(j->own_bytes, row->own_bytes);
		j->swap_bytes = add_cap(j->swap_bytes, row->swap_bytes);
		j->shmem_bytes = MAX(j->shmem_bytes, row->shmem_bytes);
	}
	qsort(f->job, f->n_jobs, sizeof(*f->job), by_held);
}

void footprint_settle(struct footprint *f)
{
	f->own_bytes = f->rss_bytes = f->swap_bytes = 0;
	for (size_t i = 0; i < f->n; i++) {
		f->own_bytes = add_cap(f->own_bytes, f->rows[i].own_bytes);
		f->rss_bytes = add_cap(f->rss_bytes, f->rows[i].rss_bytes);
		f->swap_bytes = add_cap(f->swap_bytes, f->rows[i].swap_bytes);
	}
	if (f->n > 1)
		qsort(f->rows, f->n, sizeof(*f->rows), by_own);
	jobs_settle(f);
}

static bool is_rank(const struct footprint_row *r)
{
	return r->has_role && r->who.role == ROLE_MAIN && r->who.rank != NO_RANK;
}

/* Ranks of a job on this node; a rank counts once for each of its main processes. */
static size_t ranks_here(const struct footprint *f, const char *job)
{
	size_t n = 0;
	for (size_t i = 0; i < f->n; i++)
		n += is_rank(&f->rows[i]) && strcmp(f->rows[i].job, job) == 0;
	return n;
}

void footprint_head(struct footprint *f)
{
	for (size_t i = 0; i < f->n_rays; i++)
		for (size_t k = 0; k < f->ray[i].n_parts; k++)
			if (strcmp(f->ray[i].part[k].kind, "gcs_server") == 0) {
				TEXT_COPY(f->head_of, "Ray");
				return;
			}
	for (size_t i = 0; i < f->n; i++) {
		const struct footprint_row *r = &f->rows[i];
		if (!is_rank(r) || r->who.rank != 0 || !r->job[0] || r->who.world_size <= 0)
			continue;
		if ((size_t)r->who.world_size > ranks_here(f, r->job)) {
			TEXT_FORMAT(f->head_of, "job %s", r->job);
			return;
		}
	}
}
