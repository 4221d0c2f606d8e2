#include "judge/memory/advice.h"

#include <string.h>

#include "base/buf.h"
#include "base/units.h"

struct loaders {
	uint32_t n;
	uint64_t bytes;
	const struct incident_process *largest;
};

static struct loaders loaders_of(const struct incident *in)
{
	struct loaders l = {.n = 0};
	for (size_t i = 0; i < in->n_top; i++) {
		const struct incident_process *p = &in->top[i];
		if (strcmp(p->role, "loader") != 0)
			continue;
		l.n++;
		l.bytes += p->own_bytes;
		if (!l.largest || p->own_bytes > l.largest->own_bytes)
			l.largest = p;
	}
	/* Forked processes share pages that each of them counts. */
	l.bytes = MIN(l.bytes, in->victim.own_bytes);
	return l;
}

/* The group's count is exact; the sum over processes counts shared pages of forks once for each. */
static uint64_t held_bytes(const struct incident *in)
{
	/* The job's own limit counts only the job. */
	if (in->memory.scope == MEMORY_SCOPE_JOB)
		return in->memory.used_bytes;
	/*
	 * The job's bytes are of the last sample, which a fast program outgrows: the job holds at least what its victim
	 * holds.
	 */
	uint64_t held = MAX(in->memory.job_bytes, in->victim.own_bytes);
	return MIN(held, in->memory.used_bytes);
}

struct other_ranks {
	uint32_t n;
	uint64_t most_bytes; /* of the largest one */
};

static struct other_ranks others_of(const struct incident *in)
{
	struct other_ranks o = {.n = 0};
	for (size_t i = 0; i < in->n_candidates; i++) {
		const struct incident_candidate *c = &in->candidates[i];
		if (c->rank == NO_RANK || c->rank == in->victim.rank)
			continue;
		o.n++;
		o.most_bytes = MAX(o.most_bytes, c->own_bytes);
	}
	return o;
}

/* Ranks of one job need about the same, so more than twice as much is peculiar to this rank. */
static bool stands_out(const struct incident *in)
{
	struct other_ranks o = others_of(in);
	return in->victim.rank != NO_RANK && o.n > 0 && in->victim.own_bytes > 2 * o.most_bytes;
}

static void summary(struct incident *in)
{
	char own[16], used[16], total[16], rank[32] = "";
	if (in->victim.rank != NO_RANK && others_of(in).n > 0)
		TEXT_FORMAT(rank, "rank %d, ", in->victim.rank);
	TEXT_FORMAT(
		in->summary,
		"vigil ended %s (%spid %d, %s of its own) because %s of %s were in use (%.1f %%, threshold %.1f %%)",
		in->victim.name, rank, (int)in->victim.pid, size_format(in->victim.own_bytes, own),
		size_format(in->memory.used_bytes, used), size_format(in->memory.total_bytes, total),
		in->memory.ratio * 100, in->memory.threshold_ratio * 100);
}

/* Whether the victim is most of what is in use, or was only the last to come. */
static void cause(struct incident *in)
{
	struct buf b = BUF_ON(in->cause.text);
	char own[16], rest[16], rate[16];
	uint64_t held = held_bytes(in);
	double share = in->memory.used_bytes ? (double)held / (double)in->memory.used_bytes : 0;
	bool leaking = in->memory.growth_bytes_per_s > (int64_t)MIB;
	size_format(held, own);
	size_format(sub_floor(in->memory.used_bytes, held), rest);
	in->cause.confidence = CONFIDENCE_HIGH;
	if (share >= 0.5) {
		TEXT_COPY(in->cause.id, "job_outgrew_memory");
		buf_printf(&b, "The job held %s, %.0f %% of what was in use in %s.", own,
			   share * 100, in->memory.level);
	} else {
		TEXT_COPY(in->cause.id, "memory_crowded");
		buf_printf(&b, "The job held %s; the other %s in %s belonged to others (see the table).", own, rest,
			   in->memory.level);
	}
	if (leaking)
		buf_printf(&b, " Memory was filling by %s/s.",
			   size_format((uint64_t)in->memory.growth_bytes_per_s, rate));
	if (stands_out(in))
		buf_printf(&b, " Rank %d held %s of its own, no other rank more than %s.", in->victim.rank,
			   size_format(in->victim.own_bytes, own), size_format(others_of(in).most_bytes, rest));
	struct loaders l = loaders_of(in);
	if (l.n > 0 && l.bytes > in->victim.own_bytes / 2)
		buf_printf(&b, " %u loader worker%s held %s of it, the largest (pid %d) %s.", l.n, l.n == 1 ? "" : "s",
			   size_format(l.bytes, rest), (int)l.largest->pid, size_format(l.largest->own_bytes, own));
}

static void advice_advise(struct incident *in, uint32_t nproc)
{
	char need[16], shm[16];
	struct loaders l = loaders_of(in);
	if (l.n > 0 && l.bytes > in->victim.own_bytes / 2) {
		incident_advice_add(in,
				    "look into the data loader first: its largest worker held %s; what a worker keeps "
				    "between batches (caches, lists of tensors) is kept once per worker",
				    size_format(l.largest->own_bytes, need));
		if (l.n > 1)
			incident_advice_add(in, "fewer workers (num_workers=%u) or a smaller prefetch_factor need less",
					    l.n / 2);
	}
	incident_advice_add(in, "give it more memory: this attempt needs more than %s",
			    size_format(held_bytes(in), need));
	if (stands_out(in))
		incident_advice_add(in,
				    "look for what only rank %d keeps (lists that grow, logs, evaluation, an uneven "
				    "share of the data): vigil run --heap names who allocates it",
				    in->victim.rank);
	else if (nproc > 1)
		incident_advice_add(in, "run fewer ranks on this node than %u, each needs about %s", nproc,
				    size_format(in->victim.own_bytes, need));
	else
		incident_advice_add(in, "or make it need less: a smaller batch, fewer parallel tasks");
	/* /dev/shm counts for the whole machine, and says nothing about a limit within it. */
	if (in->memory.scope == MEMORY_SCOPE_NODE && in->memory.shm_bytes > in->memory.total_bytes / 10)
		incident_advice_add(in, "%s lie in shared memory (/dev/shm): vigil mem names their owners",
				    size_format(in->memory.shm_bytes, shm));
}

void advice_memory_kill(struct incident *in, uint32_t nproc)
{
	summary(in);
	cause(in);
	advice_advise(in, nproc);
}
