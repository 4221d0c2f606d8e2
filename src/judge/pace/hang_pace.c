#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "base/units.h"
#include "judge/pace/hang_own_pace.h"
#include "judge/pace/hang_pace.h"
#include "judge/standstill/hang_ask.h"
#include "model/hang/steptrend.h"

/* The share of samplings of equal ranks in which a rank is named by chance. */
static const double chance = 0.003;
static const uint32_t samples_least = 40;
static const size_t parts_least = 4;
/* A rank that is slower by exactly the ratio shows a little less in half of the samplings. */
static const double ratio_slack = 0.8;
static const double clock_ratio = 0.9;
/* Where longer steps were why a straggler was looked for, it has to be slower by this part of that. */
static const double explains_least = 0.5;
/* A quota that held a group back in so many more of its periods than the others' groups is what makes it slow. */
static const double throttled_least = 0.2;
/* A rank whose neighbours keep it from running is without a processor for so much more of what it wants to run. */
static const double crowded_more = 0.15;
/* A part of the time that is large where it is not known how large it was, and by how much a larger one has grown. */
static const double part_large = 0.3, part_grown = 0.1, grown_least = 0.3, nearly = 0.5;
/* Steps that must pass during the samples: shares of one long wait say nothing of a pace. */
static const uint64_t steps_least = 5;
/*
 * A pause is a step that took pause_times as long as the others and lasted longer by pause_ratio of the sampled time.
 */
static const double pause_times = 1.5, pause_ratio = 0.1;
/* Maximum time that steps after the samples are waited for. */
static const uint64_t after_most_ns = 60 * NS_PER_S;

static void sort(double *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		double x = v[i];
		size_t k = i;
		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* ---- stragglers ---- */

static double part(uint32_t n, const struct waitshare_rank *r)
{
	return r->n > 0 ? (double)n / r->n : 0;
}

static double median_of(const struct waitshare *s, size_t without, double (*value)(const struct waitshare_rank *))
{
	double v[WAITSHARE_RANKS];
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		if (i != without && s->rank[i].n > 0)
			v[n++] = value(&s->rank[i]);
	return stats_median(v, n);
}

/*
 * How much the others wait: the middle one, of an even number the lower. Who waits as little as the slowest is as slow,
 * and who waits all the time may have come to its end: neither is an average with the other.
 */
static double waiting_of_others(const struct waitshare *s, size_t without)
{
	double v[WAITSHARE_RANKS];
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		if (i != without && s->rank[i].n > 0)
			v[n++] = waitshare_waiting(&s->rank[i]);
	sort(v, n);
	return n > 0 ? v[(n - 1) / 2] : 0;
}

static double loader_share(const struct waitshare_rank *r)
{
	return part(r->loader, r);
}

static double sleep_share(const struct waitshare_rank *r)
{
	return part(r->sleeping, r);
}

static double other_share(const struct waitshare_rank *r)
{
	return part(r->other, r);
}

static double stopped_share(const struct waitshare_rank *r)
{
	return part(r->stopped, r);
}

static double memory_share(const struct waitshare_rank *r)
{
	return part(r->memory, r);
}

static double running_share(const struct waitshare_rank *r)
{
	return part(r->running, r);
}

struct straggler {
	bool perhaps; /* not clear: a second round is worth it */
	size_t at; /* index of the slowest */
	double least, others; /* shares of waiting */
	double ratio;
};

/* The number of standard errors that a normal value exceeds once in n: the first terms of its tail's series. */
static double quantile(double n)
{
	const double pi = 3.14159265358979;
	double first = sqrt(2 * log(n));
	return first - log(4 * pi * log(n)) / (2 * first);
}

/*
 * Looks at one step are alike, so they are fewer than they seem where steps are long and vary. By the parts of the
 * samples: by how much the difference would be off by chance, as often as `errors` standard errors are exceeded where
 * there are many parts; fewer take more of them (Student's t, its first term). 0: unknown.
 */
static double parts_need(const struct waitshare *s, size_t at, double errors)
{
	double v[WAITSHARE_BLOCKS], mean = 0, square = 0;
	size_t n = waitshare_apart(s, at, v);
	if (n < parts_least)
		return 0;
	for (size_t i = 0; i < n; i++)
		mean += v[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		square += (v[i] - mean) * (v[i] - mean) / (double)(n - 1);
	return errors * (1 + (errors * errors + 1) / (4 * (double)(n - 1))) * sqrt(square / (double)n);
}

/* Finds the rank that waits least, and whether that is more than chance. */
static bool straggler_of(const struct waitshare *s, double ratio, struct straggler *ret)
{
	size_t at = SIZE_MAX;
	uint32_t others = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (s->rank[i].n < samples_least)
			return false;
		if (at == SIZE_MAX || waitshare_waiting_most(&s->rank[i]) < waitshare_waiting_most(&s->rank[at]))
			at = i;
	}
	if (s->n < 2)
		return false;
	*ret = (struct straggler){
		.at = at, .least = waitshare_waiting_most(&s->rank[at]), .others = waiting_of_others(s, at)};
	double diff = ret->others - ret->least;
	for (size_t i = 0; i < s->n; i++)
		others += i != at ? s->rank[i].n : 0;
	/* How far off the least of n equal ranks would be by chance. */
	double spread = sqrt(ret->others * (1 - ret->others) * (1.0 / s->rank[at].n + 1.0 / others));
	double errors = quantile((double)s->n / chance);
	if (diff <= 0 || ret->others >= 0.999)
		return false;
	/* The time that the others do not wait is their own work; the slow rank's is longer by the difference. */
	ret->ratio = diff / (1 - ret->others);
	double needed = MAX(errors * MAX(spread, 0.5 / s->rank[at].n), parts_need(s, at, errors));
	ret->perhaps = ret->ratio >= ratio * ratio_slack / 2 && diff > needed / 2;
	return ret->ratio >= ratio * ratio_slack && diff > needed;
}

static double clock_of(const struct liveness *l)
{
	return l && l->seen.gpu_has >> LIVENESS_GPU_CLOCK & 1 ? l->seen.gpu[LIVENESS_GPU_CLOCK] : 0;
}

/* Median SM clock of the others; 0: unknown. */
static double other_clocks(const struct liveness_set *p, int32_t rank)
{
	double v[LIVENESS_RANKS];
	size_t n = 0;
	for (size_t i = 0; i < p->n; i++)
		if (!p->rank[i].serves && p->rank[i].rank != rank && clock_of(&p->rank[i]) > 0)
			v[n++] = clock_of(&p->rank[i]);
	sort(v, n);
	return n ? v[n / 2] : 0;
}

static bool clock_low(const struct liveness_set *p, int32_t rank)
{
	double own = clock_of(liveness_find(p, rank)), others = other_clocks(p, rank);
	return own > 0 && others > 0 && own < others * clock_ratio;
}

static void say_clock(struct hang_work *w, const struct liveness *l)
{
	uint64_t why = l->seen.gpu_has >> LIVENESS_GPU_REASONS & 1 ? (uint64_t)l->seen.gpu[LIVENESS_GPU_REASONS] : 0;
	bool heat = why & (GPU_REASON_SW_THERMAL | GPU_REASON_HW_THERMAL);
	bool throttle = why & (GPU_REASON_HW_SLOWDOWN | GPU_REASON_POWER_BRAKE);
	hang_says(w, "Its GPU runs at %.0f MHz, those of the others at %.0f MHz%s.", clock_of(l),
		  other_clocks(w->p, l->rank),
		  heat	     ? ", held down by heat"
		  : throttle ? ", held down by its power supply"
			     : "");
	hang_advise(
		w,
		heat ? "look at the cooling of that GPU (`vigil gpus`): it is too hot to run at full clock"
		     : "look at that GPU (`vigil gpus`, nvidia-smi -q -d CLOCK,PERFORMANCE): its clock is held down");
}

/* True if most of the time that the slow rank lacks is in this class of looks. */
static bool lacks_it(const struct waitshare *s, const struct straggler *x,
		     double (*value)(const struct waitshare_rank *))
{
	return value(&s->rank[x->at]) - median_of(s, x->at, value) > (x->others - x->least) / 2;
}

static void split_is(struct hang_work *w, const char *split)
{
	TEXT_COPY(w->v->split, split);
}

/* As much of what it wants to run it has no processor for as the others: then it has only more to compute. */
static bool crowded_as_others(const struct waitshare *s, size_t at)
{
	return s->n > 1 &&
	       waitshare_crowded(&s->rank[at]) < median_of(s, at, waitshare_crowded) + crowded_more;
}

/* Somebody or something keeps it from running: it is stopped, its group's quota is used up, or its cores are busy. */
static bool split_held_back(struct hang_work *w, const struct waitshare *s, const struct straggler *x)
{
	const struct waitshare_rank *r = &s->rank[x->at];
	bool queues = lacks_it(s, x, waitshare_queued) && !crowded_as_others(s, x->at);
	if (lacks_it(s, x, stopped_share)) {
		split_is(w, "stopped");
		hang_says(w,
			  "It is stopped in %.0f %% of the looks, and goes on again: by signals (SIGSTOP, SIGCONT), a "
			  "debugger or the freezer of its control group.",
			  stopped_share(r) * 100);
		hang_advise(w, "find who stops it: a manager of power, memory or jobs, a debugger, kill -STOP");
	} else if ((queues || lacks_it(s, x, running_share)) &&
		   waitshare_throttled(r) - median_of(s, x->at, waitshare_throttled) > throttled_least) {
		split_is(w, "quota");
		hang_says(w,
			  "The processor quota of its control group (%.1f cores) held it back in %.0f %% of the "
			  "periods, those of the others less.",
			  r->quota_cores, waitshare_throttled(r) * 100);
		hang_advise(w, "raise the quota of that rank's group (cpu.max, cpu.cfs_quota_us, a container's CPU "
			       "limit), or start fewer threads in it");
	} else if (queues) {
		split_is(w, "host");
		hang_says(w,
			  "Its %s %.2f s a second for a processor: others use the same cores.",
			  r->by_threads > 0 ? "threads wait" : "main thread waits", waitshare_queued(r));
		hang_advise(w,
			    "look at what else runs on its cores: pinning of ranks, OMP_NUM_THREADS, loaders' workers");
	} else {
		return false;
	}
	return true;
}

/* It waits for something that is no rank. */
static bool split_waits(struct hang_work *w, const struct waitshare *s, const struct straggler *x)
{
	const struct waitshare_rank *r = &s->rank[x->at];
	const struct waitshare_whom *whom = waitshare_usual_whom(r, WAITSHARE_OTHER);
	const struct waitshare_whom *nap = waitshare_usual_whom(r, WAITSHARE_SLEEPS);
	if (lacks_it(s, x, sleep_share)) {
		split_is(w, "sleep");
		hang_says(w, "It sleeps %.0f %% of its time%s%s.", sleep_share(r) * 100, nap ? ", " : "",
			  nap ? nap->text : "");
		hang_advise(w, "look at what it sleeps for there: a limit of its own, a retry, a device that it polls");
	} else if (lacks_it(s, x, memory_share)) {
		split_is(w, "memory");
		hang_says(w,
			  "It waits for memory in %.0f %% of the looks: pages that are read back from disk or swap, or "
			  "memory.high of its control group.",
			  memory_share(r) * 100);
		hang_advise(w, "look at its memory and the limit of its group (`vigil ps`), and at swap");
	} else if (lacks_it(s, x, other_share)) {
		split_is(w, whom && strncmp(whom->text, "loader ", 7) == 0 ? "loader" : "wait");
		hang_says(w, "It neither computes nor waits for the others in %.0f %% of the looks: it waits %s%s.",
			  other_share(r) * 100, whom && whom->named ? "for " : "",
			  whom ? whom->text : "for something of its own, a file or a lock");
		hang_advise(w, "`vigil stack` shows what that rank waits for now");
		w->v->confidence = MIN(w->v->confidence, CONFIDENCE_MEDIUM);
	} else {
		return false;
	}
	return true;
}

/* Names what the slow rank spends the time on that the others spend waiting. */
static void split(struct hang_work *w, const struct waitshare *s, const struct straggler *x)
{
	const struct waitshare_rank *r = &s->rank[x->at];
	const struct liveness *l = liveness_find(w->p, r->rank);
	if (lacks_it(s, x, loader_share)) {
		split_is(w, "loader");
		hang_says(w, "It spends %.0f %% of its time waiting for its data loader.", loader_share(r) * 100);
		hang_advise(w, "give that rank's data loader more workers, or look at the storage that it reads from");
	} else if (clock_low(w->p, r->rank) && l) {
		split_is(w, "gpu");
		say_clock(w, l);
	} else if (!split_held_back(w, s, x) && !split_waits(w, s, x)) {
		const struct waitshare_whom *where = waitshare_usual_whom(r, WAITSHARE_RUNS);
		split_is(w, "compute");
		hang_says(w, "It spends that time computing%s%s%s.", where ? ", mostly " : "", where ? where->text : "",
			  waitshare_queued(r) > crowded_more && crowded_as_others(s, x->at)
				  ? ", and waits for processors no more than the others do for what they compute"
				  : "");
		hang_advise(w, "compare its input sizes and what only it does (logging, saving) with the others'; "
			       "`vigil flame` shows where its time goes");
	}
}

void hang_pace_split(struct hang_work *w, const struct waitshare *s, size_t at, double lack)
{
	static struct waitshare alone; /* large */
	const struct straggler x = {.at = 0, .others = lack};
	alone = (struct waitshare){.n = 1, .rank[0] = s->rank[at]};
	split(w, &alone, &x);
}

/*
 * True when steps were seen to pass twice since then. One sight is not enough: the first one may show a step made
 * before, after which the job stopped.
 */
static bool stepped_since(const struct liveness_set *p, uint64_t since_ns)
{
	if (p->n_gaps == 0)
		return false;
	double gap_ns = (double)p->gap_s[(p->n_gaps - 1) % LIVENESS_GAPS] * 1e9;
	return (double)sub_floor(p->step_count_ns, since_ns) > gap_ns;
}

/*
 * True when the job stood still for a while, as for a checkpoint: that makes the rank look slow that the others wait
 * for.
 */
static bool paused(const struct hang_work *w)
{
	const struct liveness_set *p = w->p;
	uint64_t began_ns = w->m->asked_ns;
	double length_s = (double)sub_floor(w->c->shares->last_ns, began_ns) / 1e9,
	       at_s = (double)p->step_count_ns / 1e9;
	double usual_s = p->step_time_ns / 1e9, times_s[LIVENESS_GAPS];
	size_t n = 0;
	for (; n < MIN(p->n_gaps, LIVENESS_GAPS) && at_s * 1e9 > (double)began_ns; n++) {
		at_s -= (double)p->gap_s[(p->n_gaps - 1 - n) % LIVENESS_GAPS];
		times_s[n] = (double)p->gap_step_s[(p->n_gaps - 1 - n) % LIVENESS_GAPS];
	}
	if (n > 0) {
		sort(times_s, n);
		usual_s = MAX(usual_s, times_s[n / 2]);
	}
	for (size_t i = 0; i < n; i++) {
		double gap_s = (double)p->gap_s[(p->n_gaps - 1 - i) % LIVENESS_GAPS];
		double step_s = (double)p->gap_step_s[(p->n_gaps - 1 - i) % LIVENESS_GAPS];
		if (step_s > usual_s * pause_times && gap_s * (1 - usual_s / step_s) > length_s * pause_ratio)
			return true;
	}
	return false;
}

/*
 * True when the job went on stepping during the samples and after them; one that stopped meanwhile may be about to
 * hang.
 */
static bool stepped(const struct hang_work *w)
{
	const struct liveness_set *p = w->p;
	if (!p->has_step_time)
		return true;
	return sub_floor(p->n_steps, w->m->shares_steps) >= steps_least && stepped_since(p, w->c->shares->last_ns) &&
	       !paused(w);
}

bool hang_ripe(const struct hang_settings *s, const struct hang_history *m, const struct hang_case *c)
{
	const struct liveness_set *p = c->liveness;
	if (!c->shares || !p->has_step_time)
		return true;
	if (sub_floor(p->n_steps, m->shares_steps) >= steps_least && stepped_since(p, c->shares->last_ns))
		return true;
	return p->now_ns - p->step_ns >= hang_missed_ns(s, p) || p->now_ns > c->shares->last_ns + after_most_ns;
}

/* The mean of what the ranks' main threads are ready to run, but have no processor, a second. */
static double queued_of_all(const struct waitshare *s)
{
	double sum = 0;
	for (size_t i = 0; s && i < s->n; i++)
		sum += waitshare_queued(&s->rank[i]) / (double)s->n;
	return sum;
}

static void spent_keep(struct hang_work *w)
{
	const struct waitshare *s = w->c->shares;
	struct hang_spent *to = &w->v->spent;
	if (!s || s->n == 0 || !w->p->has_step_time)
		return;
	to->valid = true;
	to->step_s = w->p->step_time_ns / 1e9;
	for (size_t i = 0; i < WAITSHARE_CLASSES; i++)
		to->part[i] = waitshare_part(s, (enum waitshare_class)i);
	to->queued = queued_of_all(s);
}

/* What each rank spends its time on, in percent. */
static void ranks_evidence(struct hang_work *w)
{
	const struct waitshare *s = w->c->shares;
	for (size_t i = 0; s && s->n > 1 && i < MIN(s->n, 8); i++) {
		const struct waitshare_rank *r = &s->rank[i];
		hang_evidence(w, "shares", "stacks, sampled",
			      "rank %d: waits for ranks %.0f %%, GPU %.0f %%, data %.0f %%, for others or for whom is "
			      "not known %.0f %%, sleeps %.0f %%, runs %.0f %%",
			      r->rank, waitshare_waiting(r) * 100, part(r->gpu, r) * 100, part(r->loader, r) * 100,
			      waitshare_others(r) * 100, part(r->sleeping, r) * 100, part(r->running, r) * 100);
	}
}

static bool shares_judge(struct hang_work *w)
{
	const struct waitshare *s = w->c->shares;
	struct straggler x = {.perhaps = false};
	spent_keep(w);
	double ratio = w->s->straggler_ratio > 0 ? w->s->straggler_ratio : HANG_STRAGGLER_RATIO;
	if (!s)
		return false;
	if (!stepped(w)) {
		w->v->again_ns = NS_PER_S;
		return false;
	}
	if (!straggler_of(s, ratio, &x)) {
		w->v->again_ns = x.perhaps ? NS_PER_S : 0;
		return false;
	}
	/* Steps that are much longer than before are not so by a rank that is a little slower, as it may always be. */
	if (x.ratio < w->m->shares_slower * explains_least)
		return false;
	int32_t rank = s->rank[x.at].rank;
	hang_is(w, "straggler", x.ratio >= 2 * ratio ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	w->v->kind = HANG_STRAGGLER;
	w->v->ratio = x.ratio;
	hang_accuse(w, rank);
	hang_says(w,
		  "Rank %d is slower than the others by %.0f %%: it waits for them in %.0f %% of the looks, they for "
		  "it in %.0f %%.",
		  rank, x.ratio * 100, x.least * 100, x.others * 100);
	split(w, s, &x);
	/* which thread its main one waits for is a conclusion from what all of them do */
	if (s->rank[x.at].by_threads > 0)
		w->v->confidence = MIN(w->v->confidence, CONFIDENCE_MEDIUM);
	w->v->known_already = w->m->straggler_ns > 0 && w->m->straggler_rank == rank &&
			      w->p->now_ns - w->m->straggler_ns < 30 * 60 * NS_PER_S;
	ranks_evidence(w);
	return true;
}

/* One GPU has a throttled clock: where all ranks wait for their devices, stacks do not show it. */
static bool clock_judge(struct hang_work *w)
{
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		if (l->serves || !hang_gpu_works(w, l->rank) || !clock_low(w->p, l->rank) ||
		    !(l->seen.gpu_has >> LIVENESS_GPU_REASONS & 1))
			continue;
		uint64_t why = (uint64_t)l->seen.gpu[LIVENESS_GPU_REASONS];
		if (!(why & (GPU_REASON_HW_SLOWDOWN | GPU_REASON_SW_THERMAL | GPU_REASON_HW_THERMAL |
			     GPU_REASON_POWER_BRAKE)))
			continue;
		hang_is(w, "straggler", CONFIDENCE_MEDIUM);
		w->v->kind = HANG_STRAGGLER;
		TEXT_COPY(w->v->split, "gpu");
		hang_accuse(w, l->rank);
		hang_says(w, "The GPU of rank %d is slower than the others'.", l->rank);
		say_clock(w, l);
		w->v->known_already = w->m->straggler_ns > 0 && w->m->straggler_rank == l->rank &&
				      w->p->now_ns - w->m->straggler_ns < 30 * 60 * NS_PER_S;
		return true;
	}
	return false;
}

/* What takes longer, in words, and what to do about it. */
struct spending {
	enum waitshare_class of;
	const char *split, *what, *advice;
};
static const struct spending spendings[] = {
	{WAITSHARE_LOADER, "loader", "waiting for data",
	 "more data loader workers, or faster storage; `vigil flame` on a worker shows what it waits for"},
	{WAITSHARE_LOCK, "lock", "waiting for a lock that they take in turns",
	 "hold that lock for a shorter time: `vigil stack` shows what its holder does, `vigil flame` what takes long"},
	{WAITSHARE_OTHER, "wait", "waiting for what is no rank",
	 "`vigil waits` shows whom they wait for, `vigil timeline` since when"},
	{WAITSHARE_SLEEPS, "sleep", "sleeping", "`vigil stack` shows where, `vigil timeline` since when"},
	{WAITSHARE_STOPPED, "stopped", "stopped (SIGSTOP, a debugger, the freezer)",
	 "find who stops them: a manager of power, memory or jobs, a debugger, kill -STOP"},
	{WAITSHARE_MEMORY, "memory", "waiting for memory (pages read back from disk or swap, memory.high)",
	 "look at memory and the limit of the group (`vigil ps`), and at swap"},
	{WAITSHARE_RUNS, "compute", "computing, or waiting for a processor",
	 "`vigil flame` against a recording of before (--against) shows what takes longer, `vigil doctor` who else "
	 "uses the processors"},
};

/*
 * By how much longer a step is spent so than before, where that is a larger part of it than it was, and a third of what
 * the step has grown by at least; else 0.
 */
static double grown_s(const struct hang_spent *before, double part, double part_before, const struct steptrend *pace)
{
	double more_s = part * pace->now_s - part_before * before->step_s;
	bool large = part - part_before > part_grown && more_s > (pace->now_s - before->step_s) * grown_least;
	return large ? more_s : 0;
}

/* The same for a class; where the job was not sampled before, what is no work of its own counts as a whole. */
static double spent_more_s(const struct hang_work *w, const struct steptrend *pace, enum waitshare_class c)
{
	const struct hang_spent *before = &w->m->spent;
	double part = waitshare_part(w->c->shares, c);
	bool own = c == WAITSHARE_SLEEPS || c == WAITSHARE_RUNS;
	if (before->valid)
		return grown_s(before, part, before->part[c], pace);
	return !own && part > part_large ? part * pace->now_s : 0;
}

/*
 * What the steps spend longer on; NULL: nothing in particular, or it is not known. Where ranks wait for a lock or for
 * data, some of them wait for the others as well: the first of the table is it that has grown by half as much as any.
 */
static const struct spending *spending_of(const struct hang_work *w, const struct steptrend *pace)
{
	const struct spending *best = NULL;
	double most_s = 0;
	for (size_t i = 0; w->c->shares && i < ARRAY_SIZE(spendings); i++) {
		double more_s = spent_more_s(w, pace, spendings[i].of);
		if (more_s * nearly <= most_s)
			continue;
		best = &spendings[i];
		most_s = more_s;
	}
	/* what has grown more may be waits for ranks */
	return best && spent_more_s(w, pace, WAITSHARE_UNREAD_WAIT) > most_s ? NULL : best;
}

static void say_spending(struct hang_work *w, const struct spending *x)
{
	const struct waitshare *s = w->c->shares;
	const struct waitshare_whom *whom = waitshare_whom_of_all(s, x->of);
	const char *who = s->n > 1 ? "The ranks spend" : "It spends";
	double now = waitshare_part(s, x->of);
	split_is(w, x->split);
	if (w->m->spent.valid)
		hang_says(w, "%s %.0f %% of the time %s, before it was %.0f %%%s%s.", who, now * 100, x->what,
			  w->m->spent.part[x->of] * 100, whom ? ": " : "", whom ? whom->text : "");
	else
		hang_says(w, "%s %.0f %% of the time %s%s%s.", who, now * 100, x->what, whom ? ": " : "",
			  whom ? whom->text : "");
	hang_advise(w, "%s", x->advice);
}

/* Names what the steps spend longer on. False: nothing in particular. */
static bool slowdown_split(struct hang_work *w, const struct steptrend *pace)
{
	const struct liveness_set *p = w->p;
	const struct hang_spent *before = &w->m->spent;
	const struct spending *x = spending_of(w, pace);
	double ranks = w->c->shares ? waitshare_part(w->c->shares, WAITSHARE_RANKS_WAIT) : 0;
	double queued = queued_of_all(w->c->shares);
	if ((!x || x->of == WAITSHARE_RUNS) && before->valid && grown_s(before, queued, before->queued, pace) > 0) {
		split_is(w, "host");
		hang_says(w,
			  "The ranks wait %.2f s a second for a processor, before it was %.2f s: others use the same "
			  "cores.",
			  queued, before->queued);
		hang_advise(w, "`vigil doctor` and `top` show what else runs on these processors");
	} else if (x) {
		say_spending(w, x);
	} else if (ranks > part_large && (p->rdma_wait.rate > 0 || p->retransmits.rate > 10)) {
		split_is(w, "network");
		hang_says(w,
			  "All ranks wait in collectives %.0f %% of their time, and the network is congested or loses "
			  "data.",
			  ranks * 100);
		hang_advise(w, "look at the links: port_xmit_wait and error counters in /sys/class/infiniband, "
			       "retransmits in `nstat`");
	} else {
		hang_advise(w, "`vigil timeline` shows since when, `vigil flame` against a recording of before "
			       "(--against) what takes longer");
		return false;
	}
	return true;
}

/* What a step's time was spent on, in percent. */
static void spent_evidence(struct hang_work *w, const char *when, const struct hang_spent *x)
{
	if (x->valid)
		hang_evidence(
			w, "shares", "stacks, sampled",
			"%s: waits for ranks %.0f %%, locks %.0f %%, data %.0f %%, others %.0f %%, unknown %.0f %%, "
			"sleeps %.0f %%, runs %.0f %%; without a processor %.0f %%",
			when, x->part[WAITSHARE_RANKS_WAIT] * 100, x->part[WAITSHARE_LOCK] * 100,
			x->part[WAITSHARE_LOADER] * 100, x->part[WAITSHARE_OTHER] * 100,
			x->part[WAITSHARE_UNREAD_WAIT] * 100, x->part[WAITSHARE_SLEEPS] * 100,
			x->part[WAITSHARE_RUNS] * 100, x->queued * 100);
}

/* ---- ranks that poll for one that is slow ---- */

/* A straggler by the samples in which sleeps at one place are waits, and that place. */
struct polled {
	struct straggler x;
	char place[WAITSHARE_WHOM];
};

/* Naps in a step, at least, of a rank that looks for another: who sleeps once in it makes it long itself. */
static const double naps_least = 3;

/* The one nap of each step is what makes that long: the others wait for who naps, not that one for them. */
static bool naps_once(const struct waitshare *s, const struct waitshare_whom *nap, double step_s)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < WAITSHARE_WHOMS; k++) {
			const struct waitshare_whom *x = &s->rank[i].whom[k];
			double waits = waitshare_waits_per_s(&s->rank[i]);
			if (x->n > 0 && x->of == WAITSHARE_SLEEPS && strcmp(x->text, nap->text) == 0 && waits > 0 &&
			    waits * step_s < naps_least)
				return true;
		}
	return false;
}

/* The place at which most others sleep while one rank does not, by the difference in shares. False: there is none. */
static bool polled_find(const struct waitshare *s, double ratio, double step_s, struct waitshare *as_waits,
			struct polled *ret)
{
	double most = 0;
	for (size_t i = 0; s->n > 2 && i < 2; i++) { /* of two ranks at least one is not the slow one */
		/* where a worker sleeps, no rank looks for another */
		for (size_t k = 0; s->rank[i].by_threads == 0 && k < WAITSHARE_WHOMS; k++) {
			const struct waitshare_whom *nap = &s->rank[i].whom[k];
			struct straggler x;
			if (nap->n == 0 || nap->of != WAITSHARE_SLEEPS || naps_once(s, nap, step_s))
				continue;
			waitshare_naps_as_waits(s, nap->text, as_waits);
			if (!straggler_of(as_waits, ratio, &x) || x.others - x.least <= most)
				continue;
			most = x.others - x.least;
			ret->x = x;
			TEXT_COPY(ret->place, nap->text);
		}
	}
	if (most > 0)
		waitshare_naps_as_waits(s, ret->place, as_waits);
	return most > 0;
}

/*
 * Steps have become longer, and all ranks but one spend that time sleeping at one place between two looks for the
 * others: they wait for that one. What it always had more to do is no reason, so the difference must be half of what
 * the steps have grown by. Of two ranks, one that naps and one that is busy, either may be it that the other waits for.
 */
static bool polled_judge(struct hang_work *w, const struct steptrend *pace)
{
	static struct waitshare as_waits; /* large */
	struct polled found;
	double ratio = w->s->straggler_ratio > 0 ? w->s->straggler_ratio : HANG_STRAGGLER_RATIO;
	if (!w->c->shares || pace->gradual || !stepped(w) ||
	    !polled_find(w->c->shares, ratio, pace->now_s, &as_waits, &found))
		return false;
	const struct straggler *x = &found.x;
	if ((x->others - x->least) * pace->now_s < (pace->now_s - pace->base_s) * nearly)
		return false;
	const int32_t rank = as_waits.rank[x->at].rank;
	hang_is(w, "straggler", CONFIDENCE_MEDIUM);
	w->v->kind = HANG_STRAGGLER;
	w->v->ratio = x->ratio;
	hang_accuse(w, rank);
	hang_says(
		w,
		"Rank %d is slower than the others: they look for it again and again, %s, in %.0f %% of the looks, it "
		"for them in %.0f %%.",
		rank, found.place, x->others * 100, x->least * 100);
	split(w, &as_waits, x);
	w->v->known_already = w->m->straggler_ns > 0 && w->m->straggler_rank == rank &&
			      w->p->now_ns - w->m->straggler_ns < 30 * 60 * NS_PER_S;
	return true;
}

static bool slowdown_judge(struct hang_work *w)
{
	struct steptrend pace;
	char before[24], now[24];
	double ratio = w->s->slowdown_ratio > 0 ? w->s->slowdown_ratio : HANG_SLOWDOWN_RATIO;
	if (!steptrend_slower(w->p, ratio, &pace) || hang_own_pace_alone(w->p))
		return false;
	hang_is(w, "slowdown", pace.gradual ? CONFIDENCE_LOW : CONFIDENCE_MEDIUM);
	w->v->kind = HANG_SLOWDOWN;
	w->v->ratio = pace.ratio;
	w->v->known_already = w->m->slowdown_ns > 0 && w->p->now_ns - w->m->slowdown_ns < 30 * 60 * NS_PER_S;
	hang_says(w, "A step took %s before and takes %s now: %.0f %% longer.",
		  duration_format((uint64_t)(pace.base_s * 1e9), before),
		  duration_format((uint64_t)(pace.now_s * 1e9), now), pace.ratio * 100);
	if (pace.gradual)
		hang_says(w,
			  "Steps have become longer little by little, as they do by plan (longer sequences, more data) "
			  "or where something grows with each step.");
	hang_evidence(w, "progress", "log", "median of the last %d step times against that of the %d before",
		      (int)pace.n_recent, (int)(MIN(w->p->n_step_times, LIVENESS_STEPS) - pace.n_recent));
	spent_evidence(w, "before", &w->m->spent);
	spent_evidence(w, "now", &w->v->spent);
	ranks_evidence(w);
	if (!polled_judge(w, &pace) && !slowdown_split(w, &pace))
		w->v->confidence = CONFIDENCE_LOW;
	return true;
}

void hang_pace_judge(struct hang_work *w)
{
	bool own = hang_own_pace_judge(w);
	if (!own && !shares_judge(w) && !clock_judge(w) && !slowdown_judge(w))
		return;
	/* a rank that has become slow is behind for that, and not for its share of the data */
	if (!own && w->c->book && w->c->book->valid)
		hang_evidence(w, "cause_book", "", "%s: %s", w->c->book->id, w->c->book->text);
	hang_common_evidence(w);
}
