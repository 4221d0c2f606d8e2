#include "judge/speed/threadplan.h"

#include "base/buf.h"

uint32_t threadplan_threads(uint32_t cores, double quota_cores, uint32_t ranks)
{
	double room = cores;
	if (quota_cores > 0 && quota_cores < room)
		room = quota_cores;
	uint32_t each = (uint32_t)(room / MAX(ranks, 1u));
	return MAX(each, 1u);
}

static const struct threadplan_row {
	const char *name;
	bool follows; /* the library takes OMP_NUM_THREADS where its own variable is not set */
	uint32_t most; /* the library refuses more; 0: no limit */
} rows[THREADPLAN_VARIABLES] = {
	{.name = "OMP_NUM_THREADS"},
	{.name = "MKL_NUM_THREADS", .follows = true},
	{.name = "OPENBLAS_NUM_THREADS", .follows = true},
	{.name = "BLIS_NUM_THREADS", .follows = true},
	{.name = "NUMEXPR_NUM_THREADS", .follows = true, .most = 64},
	{.name = "NUMBA_NUM_THREADS"},
	{.name = "VECLIB_MAXIMUM_THREADS"},
};

void threadplan_make(uint32_t threads, bool (*is_set)(void *ctx, const char *name), void *ctx, struct threadplan *ret)
{
	*ret = (struct threadplan){.n = 0};
	const bool omp = is_set(ctx, rows[0].name);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct threadplan_row *r = &rows[i];
		if (is_set(ctx, r->name))
			ret->kept[ret->n_kept++] = r->name;
		else if (!(omp && r->follows))
			TEXT_FORMAT(ret->item[ret->n++], "%s=%u", r->name, r->most ? MIN(threads, r->most) : threads);
	}
}
