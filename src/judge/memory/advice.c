#include "judge/memory/advice.h"

#include <string.h>

#include "base/buf.h"
#include "base/units.h"

/* Growth below this part of what is in use explains nothing. */
#define WORTH_PART 32

/* Who grew most, if that is worth a word. NULL: nobody did, or nothing is known. */
static const struct incident_grower *grower_of(const struct incident *in)
{
	const struct incident_grower *g = in->n_growers > 0 ? &in->growers[0] : NULL;
	return g && g->over_ms > 0 && g->grown_bytes > in->memory.used_bytes / WORTH_PART ? g : NULL;
}

/* Processes of one role that grew, and by how much together. */
struct alike {
	uint32_t n;
	uint64_t grown_bytes;
};

/* Those that grew at least half as much as the one that grew most, in the same role. */
static struct alike alike_of(const struct incident *in)
{
	struct alike a = {.n = 0};
	for (size_t i = 0; i < in->n_growers; i++) {
		const struct incident_grower *g = &in->growers[i];
		if (strcmp(g->role, in->growers[0].role) != 0 || g->grown_bytes < in->growers[0].grown_bytes / 2)
			continue;
		a.n++;
		a.grown_bytes = add_cap(a.grown_bytes, g->grown_bytes);
	}
	return a;
}

static char *time_over(uint64_t ms, char dst[static 24])
{
	return duration_format(MIN(ms, UINT64_MAX / NS_PER_MS) * NS_PER_MS, dst);
}

/* The group's count is exact; the sum over processes is an estimate where pages are shared. */
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

/* The victim grew about as fast as the one that grew fastest: who it was of the two explains nothing. */
static bool victim_grew_too(const struct incident *in)
{
	for (size_t i = 0; i < in->n_growers; i++)
		if (in->growers[i].pid == in->victim.pid)
			return in->growers[i].grown_bytes / 3 >= in->growers[0].grown_bytes / 4;
	return false;
}

static void who_grew(const struct incident *in, char *dst, size_t cap)
{
	char grown[16];
	const struct incident_grower *g = grower_of(in);
	if (!g || g->pid == in->victim.pid || victim_grew_too(in))
		return;
	size_format(g->grown_bytes, grown);
	if (g->rank != in->victim.rank && g->rank != NO_RANK)
		text_format(dst, cap, "; what grew is %s%spid %d of rank %d, by %s", g->role, g->role[0] ? " " : "",
			    (int)g->pid, g->rank, grown);
	else
		text_format(dst, cap, "; what grew is %s%spid %d of it, by %s", g->role, g->role[0] ? " " : "",
			    (int)g->pid, grown);
}

static void summary(struct incident *in)
{
	char own[16], used[16], total[16], rank[32] = "", grew[120] = "";
	who_grew(in, grew, sizeof(grew));
	if (in->victim.rank != NO_RANK && others_of(in).n > 0)
		TEXT_FORMAT(rank, "rank %d, ", in->victim.rank);
	TEXT_FORMAT(
		in->summary,
		"vigil ended %s (%spid %d, %s of its own) because %s of %s were in use (%.1f %%, threshold %.1f %%)%s",
		in->victim.name, rank, (int)in->victim.pid, size_format(in->victim.own_bytes, own),
		size_format(in->memory.used_bytes, used), size_format(in->memory.total_bytes, total),
		in->memory.ratio * 100, in->memory.threshold_ratio * 100, grew);
}

/* Who grew, by how much, over what time. */
static void say_who_grew(const struct incident *in, struct buf *b)
{
	char grown[16], rate[16], own[16], span[24];
	const struct incident_grower *g = grower_of(in);
	if (!g)
		return;
	struct alike a = alike_of(in);
	bool helper = g->role[0] && strcmp(g->role, "main") != 0;
	buf_printf(b, " What grew is %s%s, pid %d (%s)", helper ? "its " : "", helper ? g->role : "its main process",
		   (int)g->pid, g->name);
	if (g->rank != NO_RANK && in->n_candidates > 1)
		buf_printf(b, " of rank %d", g->rank);
	buf_printf(b, ": by %s in %s (%s/s), to %s of its own", size_format(g->grown_bytes, grown),
		   time_over(g->over_ms, span), size_format((uint64_t)MAX(g->growth_bytes_per_s, 0), rate),
		   size_format(g->own_bytes, own));
	if (a.n > 1)
		buf_printf(b, "; with it %u like it, %s together", a.n - 1, size_format(a.grown_bytes, grown));
	buf_add(b, ".");
}

static void say_what_stays(const struct incident *in, struct buf *b)
{
	char left[16];
	if (in->memory.shm_left_bytes == 0)
		return;
	for (size_t i = 0; i < in->n_shm; i++) {
		if (!in->shm[i].left)
			continue;
		buf_printf(b,
			   " %s of shared memory that the job made or held stay behind (%s%s): ending it has not freed "
			   "them.",
			   size_format(in->memory.shm_left_bytes, left), in->shm[i].path,
			   in->memory.shm_left_bytes > in->shm[i].bytes ? " and others" : "");
		return;
	}
}

/* Whether the victim is most of what is in use, or was only the last to come. */
static void cause(struct incident *in)
{
	struct buf b = BUF_ON(in->cause.text);
	char own[16], rest[16], rate[16], span[24];
	uint64_t held = held_bytes(in);
	double share = in->memory.used_bytes ? (double)held / (double)in->memory.used_bytes : 0;
	bool leaking = in->memory.growth_bytes_per_s > (int64_t)(MIB / 8);
	size_format(held, own);
	size_format(sub_floor(in->memory.used_bytes, held), rest);
	in->cause.confidence = CONFIDENCE_HIGH;
	if (share >= 0.5) {
		TEXT_COPY(in->cause.id, "job_outgrew_memory");
		buf_printf(&b, "The job held %s, %.0f %% of what was in use in %s.", own, share * 100,
			   in->memory.level);
	} else {
		TEXT_COPY(in->cause.id, "memory_crowded");
		buf_printf(&b, "The job held %s; the other %s in %s belonged to others (see the table).", own, rest,
			   in->memory.level);
	}
	if (leaking && in->memory.growth_over_ms)
		buf_printf(&b, " Over the last %s memory was filling by %s/s.",
			   time_over(in->memory.growth_over_ms, span),
			   size_format((uint64_t)in->memory.growth_bytes_per_s, rate));
	else if (leaking)
		buf_printf(&b, " At that moment memory was filling by %s/s.",
			   size_format((uint64_t)in->memory.growth_bytes_per_s, rate));
	if (stands_out(in))
		buf_printf(&b, " Rank %d held %s of its own, no other rank more than %s.", in->victim.rank,
			   size_format(in->victim.own_bytes, own), size_format(others_of(in).most_bytes, rest));
	say_who_grew(in, &b);
	say_what_stays(in, &b);
}

/* Advice for the process that grew; the main process gets the general one below. */
static void advise_on_grower(struct incident *in)
{
	char grown[16];
	const struct incident_grower *g = grower_of(in);
	if (!g)
		return;
	struct alike a = alike_of(in);
	size_format(g->grown_bytes, grown);
	if (strcmp(g->role, "loader") == 0) {
		incident_advice_add(
			in,
			"look into the data loader first: its worker pid %d grew by %s; what a worker keeps "
			"between batches (caches, lists of tensors) is kept once per worker",
			(int)g->pid, grown);
		if (a.n > 1)
			incident_advice_add(in, "fewer workers (num_workers) or a smaller prefetch_factor need less");
	} else if (strcmp(g->role, "worker") == 0) {
		incident_advice_add(
			in,
			"look at what worker pid %d keeps, which grew by %s: results, caches, and pages of "
			"its parent that it writes to (in Python every object that it touches) are kept once "
			"per worker",
			(int)g->pid, grown);
	} else if (strcmp(g->role, "main") != 0 && g->role[0]) {
		incident_advice_add(in, "look at %s (%s, pid %d) first: it grew by %s", g->name, g->role, (int)g->pid,
				    grown);
	}
}

static void advise_on_shm(struct incident *in)
{
	char shm[16];
	size_t said = 0;
	for (size_t i = 0; i < in->n_shm && said < 2; i++) {
		const struct incident_shm *s = &in->shm[i];
		if (!s->left)
			continue;
		said++;
		if (strncmp(s->path, "/dev/shm/", 9) == 0)
			incident_advice_add(
				in,
				"%s lie in %s and stay until the file is removed: remove it if no other job "
				"needs it, and have the job remove it when it ends",
				size_format(s->bytes, shm), s->path);
		else
			incident_advice_add(in, "%s lie in %s and stay until whoever still holds it ends",
					    size_format(s->bytes, shm), s->path);
	}
	/* /dev/shm counts for the whole machine, and says nothing about a limit within it. */
	if (said == 0 && in->memory.scope == MEMORY_SCOPE_NODE && in->memory.shm_bytes > in->memory.total_bytes / 10)
		incident_advice_add(in, "%s lie in shared memory (/dev/shm): vigil mem names their owners",
				    size_format(in->memory.shm_bytes, shm));
}

static void advice_advise(struct incident *in, uint32_t nproc)
{
	char need[16];
	advise_on_grower(in);
	advise_on_shm(in);
	incident_advice_add(in, "give it more memory%s: this attempt needs more than %s",
			    in->memory.scope == MEMORY_SCOPE_JOB ? " (--memory-limit)" : "",
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
}

/* The rank that grew, else the one that was ended for holding most. */
static void culprit(struct incident *in)
{
	const struct incident_grower *g = grower_of(in);
	int32_t rank = g && g->rank != NO_RANK ? g->rank : in->victim.rank;
	if (in->n_culprits > 0 || rank == NO_RANK || others_of(in).n == 0)
		return;
	if (g || stands_out(in))
		in->culprit_ranks[in->n_culprits++] = rank;
}

void advice_memory_kill(struct incident *in, uint32_t nproc)
{
	summary(in);
	cause(in);
	advice_advise(in, nproc);
	culprit(in);
}
