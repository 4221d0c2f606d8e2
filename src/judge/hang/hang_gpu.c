/* GPUs: a kernel that does not end, and the rule io-gpu. */
#include <string.h>

#include "base/units.h"
#include "judge/hang/hang_parts.h"

/*
 * ModelArts' rule, as its manual describes it: while the IO of any process of the job changes, the job is ok. If the IO
 * of none has changed for the whole time, the use of the GPUs is sampled for a while; if by its variance and median it
 * does not change either, the job hangs. The rule cannot see a declared sleep, for example, so that is an alarm here as
 * well; the verdict says so.
 */

/* Use is reported in whole percents: this much is no change. */
static const double variance_most = 4, median_most = 2;

static uint64_t io_sum(const struct liveness_set *p, uint32_t *ret_known, uint32_t *ret_processes)
{
	uint64_t sum = 0;
	*ret_known = *ret_processes = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct liveness *l = &p->rank[i];
		*ret_processes += l->seen.n_come + l->seen.n_gone;
		if (!(l->seen.has >> LIVENESS_IO_ALL & 1))
			continue;
		sum += l->seen.count[LIVENESS_IO_ALL];
		++*ret_known;
	}
	return sum;
}

static void window_begin(struct hang_history *m)
{
	m->util_ns = 0;
	m->util_last_ns = 0;
	m->n_utils = 0;
}

static void window_begin_at(struct hang_history *m, uint64_t now_ns)
{
	window_begin(m);
	m->util_ns = now_ns;
}

static double median_of(const uint8_t *v, size_t n)
{
	uint32_t count[256] = {0};
	size_t seen = 0;
	for (size_t i = 0; i < n; i++)
		count[v[i]]++;
	for (size_t k = 0; k < 256; k++) {
		seen += count[k];
		if (seen * 2 > n)
			return (double)k;
	}
	return 0;
}

static double variance_of(const uint8_t *v, size_t n)
{
	double sum = 0, squares = 0;
	for (size_t i = 0; i < n; i++) {
		sum += v[i];
		squares += (double)v[i] * v[i];
	}
	double mean = sum / (double)n;
	return squares / (double)n - mean * mean;
}

/* True when the use of no device has changed, also for a job without devices. */
static bool util_unchanged(const struct hang_history *m, const struct liveness_set *p)
{
	for (size_t i = 0; i < p->n; i++) {
		size_t half = m->n_utils / 2;
		if (!(p->rank[i].seen.gpu_has >> LIVENESS_GPU_BUSY & 1))
			continue;
		double before = median_of(m->util[i], half), now = median_of(&m->util[i][half], m->n_utils - half);
		double apart = before > now ? before - now : now - before;
		if (variance_of(m->util[i], m->n_utils) > variance_most || apart > median_most)
			return false;
	}
	return true;
}

static void util_take(struct hang_history *m, const struct liveness_set *p)
{
	if (m->n_utils == HANG_UTILS)
		return;
	for (size_t i = 0; i < p->n; i++) {
		double busy =
			p->rank[i].seen.gpu_has >> LIVENESS_GPU_BUSY & 1 ? p->rank[i].seen.gpu[LIVENESS_GPU_BUSY] : 0;
		m->util[i][m->n_utils] = (uint8_t)MAX(0, MIN(busy, 100));
	}
	m->n_utils++;
	m->util_last_ns = p->now_ns;
}

static bool has_devices(const struct liveness_set *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->rank[i].seen.gpu_has >> LIVENESS_GPU_BUSY & 1)
			return true;
	return false;
}

/* True when some devices count as the job's only because of open device files. */
static bool by_files(const struct liveness_set *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->rank[i].seen.gpu_has >> LIVENESS_GPU_BUSY & 1 && p->rank[i].seen.gpu_by != GPU_BY_DRIVER)
			return true;
	return false;
}

uint64_t hang_io_gpu(struct hang_history *m, const struct hang_settings *s, const struct liveness_set *p, char *text,
		     size_t cap)
{
	uint32_t known, processes;
	uint64_t sum = io_sum(p, &known, &processes);
	uint64_t after = s->has_after ? s->after_ns : HANG_IO_GPU_NS;
	uint64_t window = hang_time(s->util_window_ns, HANG_UTIL_WINDOW_NS);
	char stood[24];
	text_copy(text, cap, "");
	if (m->io_moved_ns == 0 || sum != m->io_all || known + processes != m->io_ranks) {
		m->io_all = sum;
		m->io_ranks = known + processes;
		m->io_moved_ns = p->now_ns;
		m->util_seen = false;
		window_begin(m);
		return 0;
	}
	if (known == 0 || p->now_ns - m->io_moved_ns < after)
		return 0;
	if (m->state == HANG_HUNG) /* the verdict stands until IO changes */
		return m->io_moved_ns;
	if (m->util_ns == 0)
		m->util_ns = p->now_ns;
	bool known_now = has_devices(p);
	/* A driver that did not answer just now proves neither that there is no device nor that none works. */
	if (m->util_seen && !known_now)
		return 0;
	if (known_now && !m->util_seen)
		window_begin_at(m, p->now_ns);
	m->util_seen |= known_now;
	if (m->n_utils == 0 || p->now_ns - m->util_last_ns >= window / HANG_UTILS)
		util_take(m, p);
	if (known_now && (p->now_ns - m->util_ns < window || m->n_utils < 4))
		return 0;
	if (!util_unchanged(m, p)) {
		window_begin(m);
		return 0;
	}
	text_format(text, cap, "no IO of any process for %s, and %s",
		    duration_format(p->now_ns - m->io_moved_ns, stood),
		    has_devices(p) ? "the use of the GPUs does not change" : "no GPU to look at");
	return m->io_moved_ns;
}

/* The rule has decided; the verdict by evidence becomes its cause. */
void hang_io_gpu_judge(struct hang_work *w)
{
	char stood[24], was[sizeof(w->v->text)];
	bool benign = w->v->benign;
	duration_format(w->standstill_ns, stood);
	TEXT_COPY(was, w->v->text);
	if (w->v->kind == HANG_NONE) {
		hang_is(w, "io_gpu_idle", CONFIDENCE_LOW);
		w->v->benign = false;
		w->v->again_ns = 0;
	} else {
		w->v->text[0] = '\0';
	}
	hang_says(w, "By the rule io-gpu: the IO of no process has changed for %s, %s%s.", stood,
		  has_devices(w->p) ? "and variance and median of the GPUs' use say that it does not change either"
				    : "and there is no GPU whose use could",
		  by_files(w->p) ? " (which GPUs are the job's is known by their device files)" : "");
	if (benign)
		hang_says(w, "That rule cannot tell it, but the evidence says that it may stand still (%s).", was);
	else if (*was)
		hang_says(w, "%s", was);
	if (benign)
		hang_advise(
			w, "use --hang-rule evidence (the default), which knows such phases, or a longer --hang-after");
}

/* ---- a rank of a job of one that waits for its device, on which one kernel runs and does not end ---- */

/* Members of its collectives that are on other machines. */
static bool has_peers(const struct hang_work *w)
{
	return w->c->environment && w->c->environment->world_size > 1;
}

void hang_kernel_is(struct hang_work *w, const struct stackgroup_rank *r)
{
	char doing[300], who[HANG_WHO];
	const struct liveness *l = liveness_find(w->p, r->rank);
	hang_is(w, "gpu_stuck", has_peers(w) ? CONFIDENCE_LOW : CONFIDENCE_MEDIUM);
	hang_doing(w, r, doing, sizeof(doing));
	hang_says(w, "%s waits for its device: %s.", hang_who(r->rank, who), doing);
	hang_says(w,
		  "The device is %.0f %% busy, takes little power (%.0f W) and hardly touches its memory: one kernel "
		  "runs there and does not end.",
		  l->seen.gpu[LIVENESS_GPU_BUSY], l->seen.gpu[LIVENESS_GPU_POWER]);
	if (has_peers(w))
		hang_says(w, "A collective to which a rank on another machine has not come looks the same.");
}
