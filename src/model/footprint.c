#include "model/footprint.h"

void footprint_done(struct footprint *f)
{
	free(f->rows);
	free(f->shm);
	*f = (struct footprint){.n = 0};
}

static int by_own(const void *a, const void *b)
{
	const struct footprint_row *x = a, *y = b;
	if (x->own_bytes != y->own_bytes)
		return x->own_bytes < y->own_bytes ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
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
}
