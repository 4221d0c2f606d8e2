#include "model/speed/speedfacts.h"

void speedfacts_done(struct speedfacts *f)
{
	for (size_t i = 0; i < f->n_threads; i++)
		free(f->thread[i].at);
	free(f->thread);
	free(f->process);
	*f = (struct speedfacts){.n_threads = 0};
}

static const struct threadlib_words {
	unsigned bit;
	const char *name, *remedy, *call;
} threadlib_words[] = {
	{THREADLIB_OPENBLAS, "OpenBLAS", "OPENBLAS_NUM_THREADS",
	 "openblas_set_num_threads() or threadpoolctl.threadpool_limits()"},
	{THREADLIB_MKL, "MKL", "MKL_NUM_THREADS", "mkl_set_num_threads() or mkl.set_num_threads()"},
	{THREADLIB_BLIS, "BLIS", "BLIS_NUM_THREADS", "bli_thread_set_num_threads()"},
	{THREADLIB_TORCH, "PyTorch", "OMP_NUM_THREADS or torch.set_num_threads", "torch.set_num_threads()"},
	{THREADLIB_NUMBA, "numba", "NUMBA_NUM_THREADS or numba.set_num_threads", "numba.set_num_threads()"},
	{THREADLIB_NUMEXPR, "numexpr", "NUMEXPR_NUM_THREADS", "numexpr.set_num_threads()"},
	{THREADLIB_TBB, "TBB", "tbb::global_control(max_allowed_parallelism)",
	 "tbb::global_control(max_allowed_parallelism)"},
	{THREADLIB_GOMP, "OpenMP (libgomp)", "OMP_NUM_THREADS", "omp_set_num_threads() or num_threads()"},
	{THREADLIB_IOMP, "OpenMP (libomp)", "OMP_NUM_THREADS", "omp_set_num_threads() or num_threads()"},
};

/* The first in the table that is in bits: the library that a person has called, before those that it calls. */
static const struct threadlib_words *words_of(unsigned bits)
{
	for (size_t i = 0; i < ARRAY_SIZE(threadlib_words); i++)
		if (threadlib_words[i].bit & bits)
			return &threadlib_words[i];
	return NULL;
}

unsigned threadlib_busy(unsigned libs, unsigned started)
{
	/* In the order in which they call each other. */
	static const unsigned callers[] = {THREADLIB_TORCH, THREADLIB_NUMBA, THREADLIB_MKL, THREADLIB_BLIS};
	if (started == THREADLIB_TBB)
		return started | (libs & THREADLIB_NUMBA);
	if (started != THREADLIB_GOMP && started != THREADLIB_IOMP)
		return started;
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++)
		if (libs & callers[i])
			return callers[i] | started;
	return started | (libs & THREADLIB_OPENBLAS); /* some are built with OpenMP */
}

const char *threadlib_name(unsigned bits)
{
	const struct threadlib_words *w = words_of(bits);
	return w ? w->name : "its own threads";
}

const char *threadlib_remedy(unsigned bits)
{
	const struct threadlib_words *w = words_of(bits);
	return w ? w->remedy : "the number of threads that it starts";
}

const char *threadlib_call(unsigned bits)
{
	const struct threadlib_words *w = words_of(bits);
	return w ? w->call : "that which starts them";
}
