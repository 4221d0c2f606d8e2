#include "model/hang/waitshare.h"

#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/stats.h"
#include "sense/death/facts.h"

/* One sample in which the kernel says for whom counts as so many that show the place alone. */
static const uint32_t named_times = 64;
/* Such a wait may be for other ranks. */
static const uint8_t unsure = WAITSHARE_UNREAD | WAITSHARE_VAGUE;

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

static void whom_keep(struct waitshare_rank *r, const struct waitshare_whom *whom)
{
	size_t at = 0;
	for (size_t i = 0; i < WAITSHARE_WHOMS; i++) {
		struct waitshare_whom *x = &r->whom[i];
		if (x->n > 0 && x->of == whom->of && strcmp(x->text, whom->text) == 0) {
			x->n++;
			return;
		}
		if (x->n < r->whom[at].n)
			at = i;
	}
	r->whom[at] = *whom;
}

/* What it waits for, and where: "loader 812 (read, pipe 4711), at train.py:40 in step". Of a sleep whom is a place. */
static void whom_add(struct waitshare_rank *r, enum waitshare_class c, const struct activity_found *found,
		     const char *whom, bool function)
{
	char place[WAITSHARE_WHOM];
	struct waitshare_whom x = {.n = 1, .of = c, .named = function || (c != WAITSHARE_SLEEPS && whom && whom[0])};
	activity_text(found, place, sizeof(place));
	if (c == WAITSHARE_SLEEPS && whom)
		TEXT_FORMAT(x.text, "%s %s", place, whom);
	else
		TEXT_FORMAT(x.text, "%s%s%s", x.named ? whom : "", x.named && place[0] ? ", " : "", place);
	if (x.text[0])
		whom_keep(r, &x);
}

static struct waitshare_place *wait_place(struct waitshare_rank *r, uint64_t key)
{
	for (size_t i = 0; i < WAITSHARE_PLACES; i++)
		if (r->place[i].key == key)
			return &r->place[i];
	return NULL;
}

/* With what is known of the other ranks' waits there; NULL: there is no room. */
static struct waitshare_place *wait_place_or_add(struct waitshare *w, struct waitshare_rank *r, uint64_t key)
{
	struct waitshare_place *x = wait_place(r, key);
	if (x)
		return x;
	x = wait_place(r, 0);
	if (!x)
		return NULL;
	x->key = key;
	for (size_t i = 0; i < w->n; i++) {
		const struct waitshare_place *of = &w->rank[i] != r ? wait_place(&w->rank[i], key) : NULL;
		if (!of)
			continue;
		x->for_ranks = of->for_ranks;
		x->not_ranks = of->not_ranks;
		break;
	}
	return x;
}

/* A blocked sample counts at its place, and one whose facts are known for all ranks that have waited there. */
static void place_add(struct waitshare *w, struct waitshare_rank *r, const struct dump_thread *t,
		      const struct activity_found *found, uint8_t sign)
{
	char text[WAITSHARE_WHOM];
	activity_text(found, text, sizeof(text));
	if (!text[0])
		return;
	uint64_t key = hash_bytes(hash_bytes(1, text, strlen(text)), t->syscall, strlen(t->syscall)) | 1;
	struct waitshare_place *own = wait_place_or_add(w, r, key);
	const bool ranks = sign & WAITSHARE_FOR_RANKS, by_own = !ranks && sign & WAITSHARE_FOR_OWN;
	const bool known = ranks || !(sign & (unsure | WAITSHARE_FOR_OWN));
	const bool unread = !ranks && sign & unsure;
	if (own && unread)
		own->unread++;
	else if (own && by_own)
		own->by_own++;
	for (size_t i = 0; known && i < w->n; i++) {
		struct waitshare_place *x = wait_place(&w->rank[i], key);
		if (!x)
			continue;
		x->for_ranks += ranks;
		x->not_ranks += !ranks;
	}
}

/* Those waits of unknown reason that are for ranks, by what is known of other waits at the same places. */
static double likely_for_ranks(const struct waitshare_rank *r)
{
	double sum = 0;
	for (size_t i = 0; i < WAITSHARE_PLACES; i++) {
		const struct waitshare_place *x = &r->place[i];
		if (x->for_ranks > 0)
			sum += (double)x->unread * x->for_ranks / ((double)x->for_ranks + x->not_ranks);
	}
	return MIN(sum, (double)(r->unknown - r->unknown_locks));
}

/* The same of those that are not. */
static double likely_for_others(const struct waitshare_rank *r)
{
	double sum = 0;
	for (size_t i = 0; i < WAITSHARE_PLACES; i++) {
		const struct waitshare_place *x = &r->place[i];
		if (x->not_ranks > 0)
			sum += (double)x->unread * x->not_ranks / ((double)x->for_ranks + x->not_ranks);
	}
	return MIN(sum, (double)(r->unknown - r->unknown_locks) - likely_for_ranks(r));
}

/*
 * Where others' threads, or its own at another time, have waited for ranks, a thread that is waited for may do so as
 * well: it was caught between two of its looks.
 */
static double unsettled(const struct waitshare_rank *r)
{
	double sum = 0;
	for (size_t i = 0; i < WAITSHARE_PLACES; i++)
		if (r->place[i].for_ranks > 0)
			sum += r->place[i].by_own;
	return sum;
}

/* Of which nothing is known. Where there is no other rank, none of them can be for one. */
static double unread_waits(const struct waitshare_rank *r, bool alone)
{
	return alone ? 0 : r->unknown - r->unknown_locks - likely_for_ranks(r) - likely_for_others(r) + unsettled(r);
}

/* A lock by its frames, or by what the kernel knows of it. */
static bool for_lock(const struct activity_found *found, uint8_t sign)
{
	bool by_frames = !(sign & WAITSHARE_NATIVE) && found->kind == ACTIVITY_LOCK;
	return sign & WAITSHARE_FOR_LOCK || (by_frames && strcmp(found->op, "a lock") == 0);
}

static void count(struct waitshare *w, struct waitshare_rank *r, const struct dump_thread *t, uint8_t sign,
		  const char *whom)
{
	struct activity_found found;
	const bool function = whom && sign & WAITSHARE_FUNCTION;
	activity_of(t, &found);
	r->n++;
	r->by_threads += sign & WAITSHARE_BY_THREAD ? 1 : 0;
	bool runs = t->wait.kind == WAIT_RUNNING || t->wait.kind == WAIT_UNKNOWN;
	bool ranks = sign & WAITSHARE_FOR_RANKS || activity_waits_for_ranks(found.kind);
	bool by_facts = !runs && t->wait.kind != WAIT_STOPPED && t->wait.kind != WAIT_MEMORY &&
			found.kind != ACTIVITY_SLEEP && !activity_waits_for_ranks(found.kind);
	if (by_facts && !for_lock(&found, sign))
		place_add(w, r, t, &found, sign);
	/* A call or a frame says what it did before it was stopped. */
	if (t->wait.kind == WAIT_STOPPED) {
		r->stopped++;
	} else if (ranks) {
		r->ranks++;
		if (!runs && for_lock(&found, sign)) {
			r->locks++;
			whom_add(r, WAITSHARE_LOCK, &found, whom, function);
		}
	} else if (found.kind == ACTIVITY_GPU_SYNC) {
		r->gpu++;
	} else if (found.kind == ACTIVITY_LOADER_WAIT) {
		r->loader++;
	} else if (found.kind == ACTIVITY_SLEEP) {
		r->sleeping++;
		whom_add(r, WAITSHARE_SLEEPS, &found, whom, function);
	} else if (runs) {
		r->running++;
		if (whom)
			whom_add(r, WAITSHARE_RUNS, &found, whom, function);
	} else if (t->wait.kind == WAIT_MEMORY) {
		r->memory++;
	} else {
		r->other++;
		r->unknown += sign & unsure ? 1 : 0;
		/* a lock of its own process is known as such once its facts were read */
		bool lock = sign & WAITSHARE_UNREAD && for_lock(&found, sign);
		r->unknown_locks += lock ? 1 : 0;
		whom_add(r, lock ? WAITSHARE_LOCK : WAITSHARE_OTHER, &found, whom, function);
	}
}

static void block_add(const struct waitshare *w, struct waitshare_rank *r, bool own, bool sleeps)
{
	const size_t at = MIN((w->samples - 1) / WAITSHARE_BLOCK, (uint32_t)WAITSHARE_BLOCKS - 1);
	if (r->block[at].n == UINT16_MAX)
		return;
	r->block[at].n++;
	r->block[at].own += own;
	r->block[at].sleeps += sleeps;
}

size_t waitshare_apart(const struct waitshare *w, size_t at, double ret[static WAITSHARE_BLOCKS])
{
	size_t n = 0;
	for (size_t b = 0; b < WAITSHARE_BLOCKS; b++) {
		double others[WAITSHARE_RANKS];
		size_t k = 0;
		for (size_t i = 0; i < w->n; i++)
			if (i != at && w->rank[i].block[b].n > 0)
				others[k++] = (double)w->rank[i].block[b].own / w->rank[i].block[b].n;
		if (k > 0 && w->rank[at].block[b].n > 0)
			ret[n++] = (double)w->rank[at].block[b].own / w->rank[at].block[b].n - stats_median(others, k);
	}
	return n;
}

void waitshare_add(struct waitshare *w, const struct stackdump *d, const uint8_t *signs, const char *const *whom)
{
	w->samples++;
	for (size_t i = 0; i < d->n; i++) {
		const struct dump_process *p = &d->processes[i];
		bool is_main = p->rank != NO_RANK && (!p->role[0] || strcmp(p->role, "main") == 0);
		uint8_t sign = signs ? signs[i] : 0;
		bool has_stack = p->n_threads > 0 && (p->threads[0].n_frames > 0 || sign & WAITSHARE_NATIVE);
		struct waitshare_rank *r = is_main && has_stack ? waitshare_find_or_add(w, p->rank) : NULL;
		if (!r)
			continue;
		const uint32_t others = r->ranks + r->unknown, slept = r->sleeping;
		count(w, r, &p->threads[0], sign, whom ? whom[i] : NULL);
		block_add(w, r, r->ranks + r->unknown == others, r->sleeping > slept);
	}
}

static double class_of(const struct waitshare_rank *r, bool alone, enum waitshare_class c)
{
	switch (c) {
	case WAITSHARE_RANKS_WAIT:
		return r->ranks - r->locks + likely_for_ranks(r);
	case WAITSHARE_LOCK:
		return r->locks + r->unknown_locks;
	case WAITSHARE_GPU:
		return r->gpu;
	case WAITSHARE_LOADER:
		return r->loader;
	case WAITSHARE_RUNS:
		return r->running;
	case WAITSHARE_SLEEPS:
		return r->sleeping;
	case WAITSHARE_STOPPED:
		return r->stopped;
	case WAITSHARE_MEMORY:
		return r->memory;
	case WAITSHARE_UNREAD_WAIT:
		return unread_waits(r, alone);
	default:
		return r->other - r->unknown_locks - likely_for_ranks(r) - unread_waits(r, alone);
	}
}

double waitshare_part(const struct waitshare *w, enum waitshare_class c)
{
	double part = 0;
	for (size_t i = 0; i < w->n; i++)
		if (w->rank[i].n > 0)
			part += class_of(&w->rank[i], w->n == 1, c) / (double)w->rank[i].n / (double)w->n;
	return part;
}

static uint32_t whom_weight(const struct waitshare_whom *x)
{
	return x->named ? x->n * named_times : x->n;
}

const struct waitshare_whom *waitshare_usual_whom(const struct waitshare_rank *r, enum waitshare_class c)
{
	const struct waitshare_whom *best = NULL;
	for (size_t i = 0; i < WAITSHARE_WHOMS; i++) {
		const struct waitshare_whom *x = &r->whom[i];
		if (x->n > 0 && x->of == c && (!best || whom_weight(x) > whom_weight(best)))
			best = x;
	}
	return best;
}

const struct waitshare_whom *waitshare_whom_of_all(const struct waitshare *w, enum waitshare_class c)
{
	const struct waitshare_whom *best = NULL;
	for (size_t i = 0; i < w->n; i++) {
		const struct waitshare_whom *x = waitshare_usual_whom(&w->rank[i], c);
		if (x && (!best || whom_weight(x) > whom_weight(best)))
			best = x;
	}
	return best;
}

void waitshare_naps_as_waits(const struct waitshare *w, const char *place, struct waitshare *ret)
{
	*ret = *w;
	for (size_t i = 0; i < ret->n; i++) {
		struct waitshare_rank *r = &ret->rank[i];
		for (size_t k = 0; k < WAITSHARE_WHOMS; k++) {
			struct waitshare_whom *x = &r->whom[k];
			if (x->n == 0 || x->of != WAITSHARE_SLEEPS || strcmp(x->text, place) != 0)
				continue;
			const uint32_t naps = MIN(x->n, r->sleeping);
			r->sleeping -= naps;
			r->ranks += naps;
			x->n = 0;
			/* by parts it is not known where it slept */
			for (size_t b = 0; b < WAITSHARE_BLOCKS; b++) {
				r->block[b].own = (uint16_t)(r->block[b].own - r->block[b].sleeps);
				r->block[b].sleeps = 0;
			}
		}
	}
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

void waitshare_processor(struct waitshare *w, int32_t rank, uint64_t ran_ns, uint64_t queued_ns, uint64_t over_ns,
			 uint64_t waits)
{
	struct waitshare_rank *r = waitshare_find(w, rank);
	if (!r)
		return;
	r->ran_ns = ran_ns;
	r->queued_ns = queued_ns;
	r->over_ns = over_ns;
	r->waits = waits;
}

double waitshare_waits_per_s(const struct waitshare_rank *r)
{
	return r->over_ns > 0 ? (double)r->waits * 1e9 / (double)r->over_ns : 0;
}

double waitshare_crowded(const struct waitshare_rank *r)
{
	return r->queued_ns > 0 ? (double)r->queued_ns / ((double)r->queued_ns + (double)r->ran_ns) : 0;
}

double waitshare_queued(const struct waitshare_rank *r)
{
	/* of several threads the times add up */
	if (r->by_threads > 0)
		return waitshare_crowded(r) * r->running / MAX(r->n, 1U);
	return r->over_ns > 0 ? (double)MIN(r->queued_ns, r->over_ns) / (double)r->over_ns : 0;
}

double waitshare_throttled(const struct waitshare_rank *r)
{
	return r->periods > 0 ? (double)MIN(r->throttled, r->periods) / (double)r->periods : 0;
}

double waitshare_waiting(const struct waitshare_rank *r)
{
	return r->n > 0 ? ((double)r->ranks + likely_for_ranks(r)) / (double)r->n : 0;
}

double waitshare_waiting_most(const struct waitshare_rank *r)
{
	return r->n > 0 ? ((double)(r->ranks + r->unknown) + unsettled(r)) / (double)r->n : 0;
}

double waitshare_others(const struct waitshare_rank *r)
{
	return r->n > 0 ? (r->other - likely_for_ranks(r)) / (double)r->n : 0;
}
