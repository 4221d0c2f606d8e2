#include "model/hang/liveness.h"

#include <math.h>
#include <string.h>

#include "base/stats.h"

/* Minimum distance of window points: eight of them cover about 10 s. */
static const uint64_t point_ns = 1250 * NS_PER_MS;
/* A bursty counter moves if its rate over the whole window is this many times the noise. */
static const double burst_times = 8;
/* A rate below this ratio of the usual one is noise: watchdogs and polls of a large job. */
static const double usual_share = 0.03;
/* Weight of a sample with new steps in the moving average of the usual rate. */
static const double usual_weight = 0.05;
/* A step time is measured over at least this many times the uncertainty of its ends. */
static const double slack_times = 5;
/* Growth within this time counts as moving now. */
static const uint64_t lately_ns = 5 * NS_PER_S;

/*
 * A GPU spins, doing no work, if it is busy all the time with idle memory and its power is below a ratio of its
 * limit, below a ratio of its power at work, or, if neither is known, below 100 W.
 */
static const double spin_busy_percent = 95, spin_memory_percent = 5;
static const double spin_limit_share = 0.25, spin_usual_share = 0.6, spin_power_w = 100;
static const double idle_busy_percent = 5;

/* Noise per second: the activity of a watchdog, a heartbeat, a logger that writes a line a second. */
static const double floors[LIVENESS_COUNTERS] = {
	[LIVENESS_CPU] = 0.02 * 1e9, [LIVENESS_RUN_WAIT] = 0.02 * 1e9, [LIVENESS_READ] = 4096,
	[LIVENESS_WRITTEN] = 4096,   [LIVENESS_DISK_READ] = 4096,      [LIVENESS_DISK_WRITTEN] = 4096,
	[LIVENESS_NET_SENT] = 4096,  [LIVENESS_NET_RECEIVED] = 4096,   [LIVENESS_GPU_ENERGY] = 0,
	[LIVENESS_LOG_BYTES] = 0,    [LIVENESS_LOG_LINES] = 0,	       [LIVENESS_IO_ALL] = 0,
};

/* Processor time per second above which a process works; below, it may be a loop that looks, naps and looks again. */
static const double working = 0.1 * 1e9;

/* What a small program reads to begin: heads of its libraries. A shell's loop around `sleep` begins two a second. */
static const uint64_t begin_read = 16 * 1024, begin_a_second = 2;

/* Noise of the whole node in words of 4 bytes per second: subnet managers and heartbeats send too. */
static const double rdma_floor = 4096;
/* So long a job has to run to have run all along, and to be still to have ceased. Samples are no further apart. */
static const uint64_t run_least_ns = 10 * NS_PER_S, still_least_ns = 3 * NS_PER_S, run_unseen_ns = 6 * NS_PER_S;
/* So many steps are enough to miss the next one, in however few samples they came. */
static const uint64_t enough_steps = 5;

double liveness_rate_since(const struct liveness_trace *t, uint64_t since_ns)
{
	const size_t points = (size_t)MIN(t->n_at, LIVENESS_WINDOWS);
	for (size_t back = points; back > 0; back--) { /* oldest first */
		const size_t i = (t->n_at - back) % LIVENESS_WINDOWS;
		if (t->at_ns[i] >= since_ns && t->last_ns > t->at_ns[i])
			return (t->total - t->sum[i]) * 1e9 / (double)(t->last_ns - t->at_ns[i]);
	}
	return 0;
}

double liveness_floor(enum liveness_counter s, double usual)
{
	return floors[s] == 0 ? 0 : MAX(floors[s], usual * usual_share);
}

const char *liveness_counter_name(enum liveness_counter s)
{
	static const char *const names[LIVENESS_COUNTERS] = {
		"cpu",	    "run_wait",	    "read",	  "written",   "disk_read", "disk_written",
		"net_sent", "net_received", "gpu_energy", "log_bytes", "log_lines", "io_all",
	};
	return s < LIVENESS_COUNTERS ? names[s] : "";
}

bool liveness_service_thread(const char *comm)
{
	static const char *const prefixes[] = {
		"NCCL ",	"ncclRas",     "pt_nccl_",     "pt_gloo_",   "pt_tcpstore", "cuda-EvtHandlr",
		"cuda0000",	"rdma-",       "TCPStore",     "wandb",	     "asyncio_",    "QueueFeeder",
		"tqdm_monitor", "EventWriter", "event_writer", "prometheus", "grpc_",	    "resolver-exec",
		"event_engine", "heartbeat",   "logger",       "logging",    "watchdog",    "telemetry",
	};
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(comm, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/* Median of the rates between the window points; an occasional burst does not change it. */
static double steady_rate(const struct liveness_trace *t)
{
	double rates[LIVENESS_WINDOWS];
	size_t n = 0, points = (size_t)MIN(t->n_at, LIVENESS_WINDOWS);
	for (size_t back = 1; back < points; back++) {
		size_t newer = (t->n_at - back) % LIVENESS_WINDOWS, older = (t->n_at - back - 1) % LIVENESS_WINDOWS;
		double dt = (double)(t->at_ns[newer] - t->at_ns[older]) / 1e9;
		if (dt > 0)
			rates[n++] = (t->sum[newer] - t->sum[older]) / dt;
	}
	/* fewer than 4 rates cannot distinguish a burst from a stream */
	return n < 4 ? 0 : stats_median(rates, n);
}

static void point_add(struct liveness_trace *t, uint64_t now_ns)
{
	if (t->n_at > 0 && now_ns - t->at_ns[(t->n_at - 1) % LIVENESS_WINDOWS] < point_ns)
		return;
	t->at_ns[t->n_at % LIVENESS_WINDOWS] = now_ns;
	t->sum[t->n_at % LIVENESS_WINDOWS] = t->total;
	t->n_at++;
}

static double window_rate(const struct liveness_trace *t, uint64_t now_ns)
{
	size_t oldest = t->n_at > LIVENESS_WINDOWS ? (size_t)(t->n_at % LIVENESS_WINDOWS) : 0;
	double dt = (double)(now_ns - t->at_ns[oldest]) / 1e9;
	return dt > 0 ? (t->total - t->sum[oldest]) / dt : 0;
}

/* Adds one sample. floor: rate per second up to which growth is noise. */
static void trace_step(struct liveness_trace *t, bool has, uint64_t count, double floor, uint64_t now_ns)
{
	if (!has) {
		t->known = false;
		return;
	}
	if (!t->known) {
		/* growth while the counter could not be read is unknown */
		*t = (struct liveness_trace){.known = true,
					     .last = count,
					     .last_ns = now_ns,
					     .moved_ns = t->moved_ns ? t->moved_ns : now_ns,
					     .usual = t->usual,
					     .has_usual = t->has_usual,
					     .ever_moved = t->ever_moved};
		point_add(t, now_ns);
		return;
	}
	double grown = (double)sub_floor(count, t->last);
	double dt = (double)(now_ns - t->last_ns) / 1e9;
	t->last = count;
	if (dt <= 0)
		return;
	t->total += grown;
	if (grown / dt > floor)
		t->busy_ns = now_ns;
	t->last_ns = now_ns;
	t->rate = window_rate(t, now_ns);
	point_add(t, now_ns);
	bool moves = floor == 0 ? grown > 0 : steady_rate(t) > floor || t->rate > floor * burst_times;
	/* The window still holds activity that has ended; busy_ns is when it was last above the floor. */
	if (moves && t->busy_ns > 0) {
		t->moved_ns = t->busy_ns;
		t->ever_moved = true;
	}
}

static void usual_step(struct liveness_trace *t)
{
	if (!t->known || t->n_at < 3)
		return;
	t->usual = t->has_usual ? t->usual + usual_weight * (t->rate - t->usual) : t->rate;
	t->has_usual = true;
}

static bool gpu_has_value(const struct liveness_counters *s, enum liveness_gpu_value v)
{
	return s->gpu_has >> v & 1;
}

static bool gpu_low_power(const struct liveness *p)
{
	const struct liveness_counters *s = &p->seen;
	double power = s->gpu[LIVENESS_GPU_POWER];
	if (!gpu_has_value(s, LIVENESS_GPU_POWER))
		return false;
	if (p->has_usual_power && power < p->usual_power * spin_usual_share)
		return true;
	if (gpu_has_value(s, LIVENESS_GPU_POWER_LIMIT) && s->gpu[LIVENESS_GPU_POWER_LIMIT] > 0)
		return power < s->gpu[LIVENESS_GPU_POWER_LIMIT] * spin_limit_share;
	return power < spin_power_w;
}

static void gpu_step(struct liveness *p, uint64_t now_ns)
{
	const struct liveness_counters *s = &p->seen;
	p->gpu_known = gpu_has_value(s, LIVENESS_GPU_BUSY) || gpu_has_value(s, LIVENESS_GPU_POWER);
	p->gpu_spins = false;
	if (!p->gpu_known)
		return;
	bool busy = gpu_has_value(s, LIVENESS_GPU_BUSY) ? s->gpu[LIVENESS_GPU_BUSY] >= idle_busy_percent
							: !gpu_low_power(p);
	bool memory_still =
		!gpu_has_value(s, LIVENESS_GPU_MEMORY_BUSY) || s->gpu[LIVENESS_GPU_MEMORY_BUSY] <= spin_memory_percent;
	p->gpu_spins = busy && gpu_has_value(s, LIVENESS_GPU_BUSY) && s->gpu[LIVENESS_GPU_BUSY] >= spin_busy_percent &&
		       memory_still && gpu_low_power(p);
	if (busy && !p->gpu_spins)
		p->gpu_alive_ns = now_ns;
}

static struct liveness *liveness_find_or_add(struct liveness_set *p, int32_t rank)
{
	size_t at = 0;
	while (at < p->n && p->rank[at].rank < rank)
		at++;
	if (at < p->n && p->rank[at].rank == rank)
		return &p->rank[at];
	if (p->n == LIVENESS_RANKS) {
		p->n_dropped++;
		return NULL;
	}
	memmove(&p->rank[at + 1], &p->rank[at], (p->n - at) * sizeof(p->rank[0]));
	p->n++;
	p->rank[at] = (struct liveness){.rank = rank,
					.first_ns = p->now_ns,
					.changed_ns = p->now_ns,
					.state_ns = p->now_ns,
					.gpu_alive_ns = p->now_ns};
	return &p->rank[at];
}

/* Progress as one number: the step, else the number of progress lines; 0: unknown. */
static uint64_t liveness_count(const struct liveness *p)
{
	if (!p->seen.has_progress)
		return 0;
	return p->seen.progress.has_step ? p->seen.progress.step : p->seen.progress.n_lines;
}

/* Updates the time of the last step. Where only epochs are printed, a new epoch counts as a step. */
static void progress_step(struct liveness *p, const struct liveness_counters *before, uint64_t now_ns)
{
	const struct liveness_progress *s = &p->seen.progress;
	if (!p->seen.has_progress)
		return;
	uint64_t at_ns = p->step_ns;
	if (s->has_step && s->last_step_ns > 0)
		at_ns = s->last_step_ns;
	else if (!s->has_step && s->has_epoch && before->has_progress && s->epoch > before->progress.epoch)
		at_ns = now_ns;
	if (at_ns > p->step_ns) {
		p->stepping = true;
		p->step_ns = MIN(at_ns, now_ns);
	}
	const struct liveness_progress *was = &before->progress;
	if (s->has_step && was->has_step && s->step > was->step && s->n_lines > was->n_lines)
		p->stride = (s->step - was->step + s->n_lines - was->n_lines - 1) / (s->n_lines - was->n_lines);
	if (s->has_step && p->stepping)
		ownpace_take(&p->pace, p->step_ns, s->step);
}

/* Leaves out what began processes have read to begin. Between rare samples some may come and go unseen. */
static void beginnings_take(struct liveness_trace *read, uint64_t came, uint64_t now_ns)
{
	uint64_t seconds = (now_ns - read->last_ns + NS_PER_S / 2) / NS_PER_S;
	if (read->known && came > 0)
		read->last += MAX(came, seconds * begin_a_second) * begin_read;
}

static void works_step(struct liveness *p)
{
	const struct liveness_trace *t = &p->trace[LIVENESS_CPU];
	if (t->known && (steady_rate(t) > working || t->rate > working * burst_times))
		p->works_ns = MAX(p->works_ns, t->moved_ns);
}

/* Another process is the rank's main one, in place of one that ended. */
static void renewed(struct liveness *p, const struct liveness_counters *before, uint64_t now_ns)
{
	renewals_add(&p->renewals, now_ns);
	p->exited_ns = 0;
	if (!before->exited || !before->has_status)
		return;
	p->renewals.has_status = true;
	p->renewals.wait_status = before->wait_status;
}

static void rank_step(struct liveness_set *all, const struct liveness_counters *s)
{
	struct liveness *p = liveness_find_or_add(all, s->rank);
	if (!p)
		return;
	struct liveness_counters before = p->seen;
	bool first = p->first_ns == all->now_ns;
	p->seen = *s;
	if (!first)
		beginnings_take(&p->trace[LIVENESS_READ], sub_floor(s->n_come, before.n_come), all->now_ns);
	for (size_t i = 0; i < LIVENESS_COUNTERS; i++)
		trace_step(&p->trace[i], s->has >> i & 1, s->count[i],
			   liveness_floor((enum liveness_counter)i, p->trace[i].has_usual ? p->trace[i].usual : 0),
			   all->now_ns);
	works_step(p);
	if (!first && p->trace[LIVENESS_LOG_LINES].known &&
	    s->count[LIVENESS_LOG_LINES] > before.count[LIVENESS_LOG_LINES])
		cadence_lines(&p->log, all->now_ns);
	if (!first && (before.n_come != s->n_come || before.n_gone != s->n_gone || before.processes != s->processes))
		p->changed_ns = all->now_ns;
	if (!first && before.last_gone.pid != s->last_gone.pid)
		p->gone_ns = all->now_ns;
	if (before.state != s->state)
		p->state_ns = all->now_ns;
	if (!first && before.pid != 0 && s->pid != 0 && before.pid != s->pid)
		renewed(p, &before, all->now_ns);
	if (s->exited && p->exited_ns == 0)
		p->exited_ns = all->now_ns;
	gpu_step(p, all->now_ns);
	progress_step(p, &before, all->now_ns);
}

static void median_and_mad(const float *ring, size_t cap, uint64_t n, size_t most, double *ret, double *ret_mad)
{
	double v[LIVENESS_STEPS];
	size_t k = (size_t)MIN(n, MIN(most, cap));
	for (size_t i = 0; i < k; i++)
		v[i] = ring[(n - 1 - i) % cap];
	*ret = stats_median(v, k) * 1e9;
	for (size_t i = 0; i < k; i++)
		v[i] = fabs(v[i] - *ret / 1e9);
	*ret_mad = stats_median(v, k) * 1e9;
}

static void timed_begin(struct liveness_set *p, uint64_t count, uint64_t at_ns, uint64_t slack_ns)
{
	p->timed_count = count;
	p->timed_ns = at_ns;
	p->timed_slack_ns = slack_ns;
}

/*
 * The rank whose steps are timed. It stays the same until another rank's last step is more than 30 s later; the first
 * choice is the lowest rank within 10 s of the latest.
 */
static const struct liveness *timed_rank(struct liveness_set *p)
{
	const struct liveness *now = NULL, *best = NULL;
	for (size_t i = 0; i < p->n; i++) {
		const struct liveness *l = &p->rank[i];
		if (!l->stepping)
			continue;
		if (p->progress_known && l->rank == p->step_rank)
			now = l;
		if (!best || l->step_ns > best->step_ns + 10 * NS_PER_S)
			best = l;
	}
	if (!best)
		return NULL;
	if (!now || (best != now && best->step_ns > now->step_ns + 30 * NS_PER_S)) {
		p->step_rank = best->rank;
		p->n_other_times = p->n_step_times;
		p->step_count = liveness_count(best);
		p->step_count_ns = best->step_ns;
		timed_begin(p, p->step_count, p->step_count_ns, best->seen.progress.last_step_slack_ns);
		return best;
	}
	return now;
}

/*
 * Divides a time by the steps made in it. The time of a step is known only to a sample's distance (slack), so the time
 * measured is at least 5 times the slack of both ends.
 */
static void step_measure(struct liveness_set *p, uint64_t count, uint64_t at_ns, uint64_t slack_ns)
{
	if (count <= p->timed_count || at_ns <= p->timed_ns) { /* the count restarts with a new epoch */
		timed_begin(p, count, at_ns, slack_ns);
		return;
	}
	double dt = (double)(at_ns - p->timed_ns);
	if (dt < (double)(slack_ns + p->timed_slack_ns) * slack_times) {
		if (slack_ns < p->timed_slack_ns) /* a more exact start */
			timed_begin(p, count, at_ns, slack_ns);
		return;
	}
	p->step_s[p->n_step_times++ % LIVENESS_STEPS] = (float)(dt / 1e9 / (double)(count - p->timed_count));
	timed_begin(p, count, at_ns, slack_ns);
}

static void counts_step(struct liveness_set *p)
{
	p->count_ns = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct liveness_progress *s = &p->rank[i].seen.progress;
		if (s->count_ns <= p->count_ns)
			continue;
		p->count_ns = s->count_ns;
		p->count_gap_ns = s->count_gap_ns;
	}
}

static void times_step(struct liveness_set *p)
{
	const struct liveness *l = timed_rank(p);
	if (!l)
		return;
	p->progress_known = true;
	uint64_t count = liveness_count(l);
	if (l->step_ns <= p->step_count_ns)
		return;
	double dt = (double)(l->step_ns - p->step_count_ns) / 1e9;
	uint64_t steps = sub_floor(count, p->step_count);
	p->step_count = count;
	p->step_count_ns = l->step_ns;
	p->gap_step_s[p->n_gaps % LIVENESS_GAPS] = steps > 0 ? (float)(dt / (double)steps) : 0;
	p->gap_s[p->n_gaps++ % LIVENESS_GAPS] = (float)dt;
	p->n_steps += steps;
	step_measure(p, count, l->step_ns, l->seen.progress.last_step_slack_ns);
	double mad;
	p->has_gap = p->n_gaps >= 3 || p->n_steps >= enough_steps;
	median_and_mad(p->gap_s, LIVENESS_GAPS, p->n_gaps, LIVENESS_GAPS, &p->gap_ns, &mad);
	p->has_step_time = p->n_step_times >= 3;
	median_and_mad(p->step_s, LIVENESS_STEPS, p->n_step_times, 64, &p->step_time_ns, &p->step_mad_ns);
}

/*
 * A loop that naps, or a run of small steps, is no life by its counters, but its end is the beginning of a standstill.
 * So the job has to have run at each sample of such a time, and for longer than it was still before: a thread that
 * tries something for a while each minute is no life either.
 */
static void stills_step(struct liveness_set *p, const struct liveness_sample *s)
{
	const uint64_t gap_ns = s->now_ns - p->run_seen_ns;
	p->run_seen_ns = s->now_ns;
	if (!s->has_ran || gap_ns > run_unseen_ns) {
		p->run_ns = 0;
		return;
	}
	if (s->looked) { /* it goes on, as far as is known */
		p->ran_ns = p->run_ns ? s->now_ns : p->ran_ns;
		return;
	}
	if (s->ran) {
		p->run_ns = p->run_ns ? p->run_ns : s->now_ns;
		p->ran_ns = s->now_ns;
		return;
	}
	if (p->run_ns == 0 || s->now_ns - p->ran_ns < still_least_ns)
		return;
	const uint64_t still_ns = p->stilled_ns ? p->run_ns - p->stilled_ns : 0;
	if (p->ran_ns - p->run_ns >= MAX(run_least_ns, still_ns))
		p->stilled_ns = p->ran_ns;
	p->run_ns = 0;
}

static void usuals_step(struct liveness_set *p, bool stepped)
{
	if (!stepped)
		return;
	for (size_t i = 0; i < p->n; i++) {
		struct liveness *l = &p->rank[i];
		for (size_t k = 0; k < LIVENESS_COUNTERS; k++)
			usual_step(&l->trace[k]);
		if (!gpu_has_value(&l->seen, LIVENESS_GPU_POWER) || !gpu_has_value(&l->seen, LIVENESS_GPU_BUSY) ||
		    l->seen.gpu[LIVENESS_GPU_BUSY] < idle_busy_percent)
			continue;
		double power = l->seen.gpu[LIVENESS_GPU_POWER];
		l->usual_power = l->has_usual_power ? l->usual_power + usual_weight * (power - l->usual_power) : power;
		l->has_usual_power = true;
	}
	usual_step(&p->rdma);
}

void liveness_forget(struct liveness_set *p)
{
	const size_t used = offsetof(struct liveness_set, rank) + p->n * sizeof(p->rank[0]);
	memset(p, 0, used);
	memset((char *)p + offsetof(struct liveness_set, n), 0, sizeof(*p) - offsetof(struct liveness_set, n));
}

void liveness_take(struct liveness_set *p, const struct liveness_sample *sample)
{
	p->now_ns = sample->now_ns;
	p->job_age_ns = sample->job_age_ns;
	p->timeout_ns = sample->timeout_ns;
	p->ray_busy_ns = sample->ray_busy_ns;
	p->respawns.n = MIN(sample->respawns.n, (size_t)RESPAWNS_KEPT);
	memcpy(p->respawns.of, sample->respawns.of, p->respawns.n * sizeof(p->respawns.of[0]));
	if (p->first_ns == 0)
		p->first_ns = sample->now_ns;
	p->n_dropped = 0;
	for (size_t i = 0; i < MIN(sample->n, LIVENESS_RANKS); i++)
		rank_step(p, &sample->rank[i]);
	uint64_t before_ns = p->step_ns;
	p->has_ranks = p->n > 0 && p->rank[p->n - 1].rank != NO_RANK;
	for (size_t i = 0; i < p->n; i++) {
		p->rank[i].serves = p->has_ranks && p->rank[i].rank == NO_RANK;
		p->step_ns = MAX(p->step_ns, p->rank[i].step_ns);
	}
	double rdma = MAX(rdma_floor, p->rdma.has_usual ? p->rdma.usual * usual_share : 0);
	trace_step(&p->rdma, sample->has_rdma, sample->rdma_words, rdma, p->now_ns);
	trace_step(&p->rdma_wait, sample->has_rdma_wait, sample->rdma_wait, 0, p->now_ns);
	trace_step(&p->retransmits, sample->has_retransmits, sample->retransmits, 0, p->now_ns);
	times_step(p);
	counts_step(p);
	stills_step(p, sample);
	usuals_step(p, p->step_ns > before_ns);
}

const struct liveness *liveness_find(const struct liveness_set *p, int32_t rank)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->rank[i].rank == rank)
			return &p->rank[i];
	return NULL;
}

/* Counters that show activity of the rank itself; output lines and waiting for a processor do not. */
static bool is_life(enum liveness_counter s)
{
	return s <= LIVENESS_NET_RECEIVED && s != LIVENESS_RUN_WAIT;
}

uint64_t liveness_alive_ns(const struct liveness *p)
{
	uint64_t alive = p->first_ns;
	for (size_t i = 0; i < LIVENESS_COUNTERS; i++)
		if (is_life((enum liveness_counter)i) && p->trace[i].known)
			alive = MAX(alive, p->trace[i].moved_ns);
	if (p->gpu_known)
		alive = MAX(alive, p->gpu_alive_ns);
	return alive;
}

bool liveness_moves(const struct liveness_set *all, const struct liveness *p, enum liveness_counter s)
{
	const struct liveness_trace *t = &p->trace[s];
	return t->known && t->ever_moved && all->now_ns - t->moved_ns < lately_ns;
}

bool liveness_writes(const struct liveness_set *all, const struct liveness *p)
{
	return liveness_moves(all, p, LIVENESS_WRITTEN) || liveness_moves(all, p, LIVENESS_DISK_WRITTEN) ||
	       liveness_moves(all, p, LIVENESS_NET_SENT);
}

bool liveness_reads(const struct liveness_set *all, const struct liveness *p)
{
	return liveness_moves(all, p, LIVENESS_READ) || liveness_moves(all, p, LIVENESS_DISK_READ) ||
	       liveness_moves(all, p, LIVENESS_NET_RECEIVED);
}
