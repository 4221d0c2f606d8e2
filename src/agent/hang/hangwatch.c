#include "agent/hang/hangwatch.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "agent/hang/hangdevices.h"
#include "agent/hang/hangevidence.h"
#include "agent/hang/hanglookups.h"
#include "agent/hang/hangmakers.h"
#include "agent/hang/hangrefused.h"
#include "agent/hang/hangrespawns.h"
#include "agent/hang/hangsymbols.h"
#include "agent/hang/hangwakers.h"
#include "agent/host/world_open.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "sense/framework/frameworks.h"
#include "sense/lockwait.h"

static const uint64_t sample_ns = NS_PER_S;
/* Pause before evidence is judged again that is too fresh to be judged. */
static const uint64_t ripe_gap_ns = NS_PER_S / 5;
/* Evidence is kept for a verdict that is due within this time, so often. */
static const uint64_t soon_ns = 5 * NS_PER_S / 2, postponed_most = 2;
/* Period for a job that has neither used a processor nor written since the sample before. */
static const uint64_t quiet_ns = 2 * NS_PER_S;
/*
 * Part of a period that a sample may cost; where it costs more, the period grows, up to 30 s. With all other work the
 * process stays below 0.2 % of a core.
 */
static const double share = 0.0015;
static const uint64_t rarest_ns = 30 * NS_PER_S;
/* Period for a job that stands still for a harmless reason, as its stacks show, until it moves. */
static const uint64_t idle_ns = 5 * NS_PER_S;
/* A sample that is not older is as good as a new one. */
static const uint64_t fresh_ns = 100 * NS_PER_MS;
/* Part of the time that may be spent on reading threads; unused time is saved up to this much. */
static const double thread_share = 0.0005;
static const uint64_t thread_burst_ns = 100 * NS_PER_MS;
/* Minimum time between two events of suspicions. */
static const uint64_t suspect_gap_ns = 60 * NS_PER_S;
/* Minimum time between two early evidences of one job; evidence is dropped when the job has moved for this long. */
static const uint64_t early_gap_ns = 60 * NS_PER_S;
static const uint32_t late_doublings = 4;
/* Who has run within this time may try to connect again. */
static const uint64_t stir_ns = 120 * NS_PER_S;
#define FDS_MOST 4096
/* So many jobs at a time have their evidence gathered. */
#define EVIDENCE_MOST 16

struct watched {
	bool active;
	char id[64];
	uint32_t attempt;
	struct hangsample sample;
	struct liveness_set liveness;
	struct hang_history history;
	struct hangevidence evidence;
	struct hang_step queued; /* is_queued: its evidence is gathered once others have theirs */
	bool is_queued;
	struct wakehist wakes; /* of all attempts */
	uint32_t number; /* no other job of this watcher has or had it */
	bool works; /* as of the last sample: it is not suspected, and moves */
	struct hangrules *rules; /* of this attempt; NULL without memory */
	uint64_t devices_ns; /* time of the last sample of devices that rules has got */
	uint64_t frameworks_ns; /* when to look for frameworks next; UINT64_MAX: not again */
	uint32_t frameworks_looks;
	uint64_t due_ns, cost_ns; /* time of the next sample; mean cost of one of a calm job */
	bool calm;
	uint64_t moved; /* sum of processor time and IO of all ranks; UINT64_MAX: there is no sample yet */
	uint64_t suspected_ns; /* age of the present standstill when it was first suspected; 0: it is not */
	bool unsaid; /* that suspicion is not to be told */
	uint64_t suspect_reported_ns; /* when a suspicion was last reported; 0: never */
	bool reported; /* an incident of kind hang stands */
	uint64_t early_ns; /* when early evidence was last sent; 0: never, or it was withdrawn */
	uint64_t ok_ns; /* since when neither a standstill nor a late step is suspected; 0: one is */
	uint64_t late_again_ns; /* earliest time for the next stacks because of a late step */
	uint32_t late_dumps; /* number of such stacks */
	bool looked; /* threads were stopped, to look at them, at or since the last sample */
	uint32_t postponed; /* verdicts by the evidence being gathered that came a little too soon */
	bool early_tried; /* for the evidence being gathered */
	bool early_accuses; /* the early evidence that was sent names a rank */
	char suspicion[200]; /* text of the suspicion whose evidence is gathered */
	char benign[240]; /* the last harmless reason that was reported; "" */
};

struct watch {
	struct hang_shm *shm;
	int wake_fd;
	struct world w;
	struct procstats *procstats;
	struct hangdevices devices;
	struct hangwakers *wakers; /* NULL without memory */
	struct hangrefused *refused; /* likewise */
	struct hanglookups *lookups; /* likewise */
	struct hangmakers *makers; /* likewise */
	struct waitalarms alarms;
	struct progress_patterns progress; /* the user's */
	struct hang_job job[HANG_JOBS];
	size_t n_jobs;
	uint32_t jobs_seq, n_numbers;
	struct watched *watched[HANG_JOBS]; /* NULL: none yet */
	uint64_t thread_ns, thread_at_ns; /* saved time for threads, and when it was last updated */
	uint64_t round_ns; /* time of the next procstats_round */
	struct hangsymbols symbols;
};

/* ---- the process ---- */

static void descriptors_close(int keep)
{
	int null = file_null();
	for (int fd = 0; fd <= 2 && null >= 0; fd++)
		(void)dup2(null, fd);
	/* above all the job's pipes and terminals: their other ends must see when the supervisor closes them */
	if (keep > 3)
		(void)syscall(SYS_close_range, 3, keep - 1, 0);
	(void)syscall(SYS_close_range, MAX(keep + 1, 3), ~0u, 0);
}

static void patterns_begin(struct watch *k)
{
	struct progress_patterns *all = &k->progress;
	char why[160];
	size_t at;
	for (size_t i = 0; i < MIN(k->shm->n_progress, (uint32_t)PROGRESS_PATTERNS); i++)
		all->n += progress_pattern_init(&all->each[all->n], span_of(k->shm->progress[i]), why, &at) == 0;
}

static bool hangwatch_begin(struct watch *k)
{
	struct fault f = {.text = ""};
	struct rlimit files;
	(void)prctl(PR_SET_NAME, "vigil-hang");
	log_set_sink(NULL, NULL);
	descriptors_close(k->wake_fd);
	if (world_open(NULL, &k->w, &f) < 0)
		return false;
	/* one process of a job that never answers may not keep the watcher from the others */
	lockwait_start(k->w.proc_fd);
	lockwait_begin();
	(void)setpriority(PRIO_PROCESS, 0, 5); /* the job comes first, but not before the helper that asks */
	k->procstats = procstats_new(
		&k->w, getrlimit(RLIMIT_NOFILE, &files) == 0 ? MIN((size_t)files.rlim_cur / 2, (size_t)FDS_MOST) : 256);
	hangdevices_open(&k->devices, &k->w);
	k->wakers = hangwakers_new(&k->w);
	k->refused = hangrefused_new(&k->w);
	k->lookups = hanglookups_new(&k->w);
	k->makers = hangmakers_new(&k->w);
	k->alarms = (struct waitalarms)WAITALARMS_INIT;
	k->jobs_seq = UINT32_MAX;
	patterns_begin(k);
	return k->procstats != NULL;
}

static void jobs_copy(struct watch *k)
{
	struct hang_shm *shm = k->shm;
	for (int tries = 0; tries < 100; tries++) {
		uint32_t before = atomic_load(&shm->jobs_seq);
		if (before == k->jobs_seq)
			return;
		if (!(before & 1)) {
			size_t n = MIN(shm->n_jobs, (uint32_t)HANG_JOBS);
			memcpy(k->job, shm->job, n * sizeof(k->job[0]));
			if (atomic_load(&shm->jobs_seq) == before) {
				k->n_jobs = n;
				k->jobs_seq = before;
				return;
			}
		}
		(void)poll(NULL, 0, 1);
	}
}

/* Waits until the list of jobs changes, at most most_ns. */
static void wait_for_jobs(const struct watch *k, uint64_t most_ns)
{
	const struct timespec most = {.tv_sec = (time_t)(most_ns / NS_PER_S), .tv_nsec = (long)(most_ns % NS_PER_S)};
	(void)syscall(SYS_futex, &k->shm->jobs_seq, FUTEX_WAIT, k->jobs_seq, &most, NULL, 0);
}

/* ---- messages ---- */

/* NULL while the ring is full, because the owner has not taken earlier messages. */
static struct hang_message *message_new(struct watch *k, const struct watched *j, size_t index,
					enum hang_message_kind kind)
{
	uint32_t sent = atomic_load(&k->shm->sent);
	if (sent - atomic_load(&k->shm->taken) >= HANG_MESSAGES)
		return NULL;
	struct hang_message *m = &k->shm->message[sent % HANG_MESSAGES];
	m->kind = kind;
	m->job = (uint32_t)index;
	m->attempt = j->attempt;
	m->time_unix_ms = k->w.unix_ms();
	m->text[0] = '\0';
	m->stacks_len = 0;
	return m;
}

static void message_send(struct watch *k)
{
	uint64_t one = 1;
	atomic_fetch_add(&k->shm->sent, 1);
	ignore(write(k->wake_fd, &one, sizeof(one)), "the owner looks now and then as well");
}

static bool incident_send(struct watch *k, struct watched *j, size_t index, const struct hang_verdict *v)
{
	struct hang_message *m = message_new(k, j, index, HANG_SAYS_INCIDENT);
	if (!m)
		return false;
	memset(&m->incident, 0, sizeof(m->incident));
	m->verdict = *v;
	hang_incident(v, &j->evidence.hcase, &m->incident);
	/* the process is not known, so no rank is accused */
	if (j->evidence.book && j->evidence.book->nobodys_error[0])
		incident_evidence_add(&m->incident, "log", j->evidence.book->nobodys_source, 0,
				      "the output ends with an error of a process that its lines do not name: %s",
				      j->evidence.book->nobodys_error);
	m->stacks_len = hangevidence_stacks(&j->evidence, m->stacks, sizeof(m->stacks));
	m->suspected_ns = j->suspected_ns;
	m->judged_ns = v->standstill_ns;
	message_send(k);
	j->reported |= v->kind == HANG_HANG;
	return true;
}

static bool line_send(struct watch *k, const struct watched *j, size_t index, enum hang_message_kind kind,
		      const char *text)
{
	struct hang_message *m = message_new(k, j, index, kind);
	if (!m)
		return false;
	TEXT_COPY(m->text, text);
	message_send(k);
	return true;
}

/* ---- one job ---- */

/* What was put into the case for one verdict. */
static void verdict_over(struct hang_case *c)
{
	c->refused = NULL;
	c->n_refused = 0;
	c->asked = NULL;
	c->n_asked = 0;
}

static void judge(struct watch *k, struct watched *j, size_t index)
{
	static struct hang_verdict v;
	struct hang_refused refused[HANG_REFUSED];
	struct hang_asked asked[HANG_ASKED];
	struct hang_case *c = &j->evidence.hcase;
	c->liveness = &j->liveness;
	c->refused = refused;
	c->n_refused = hangrefused_take(k->refused, j->sample.procs, refused, ARRAY_SIZE(refused));
	c->asked = asked;
	c->n_asked = hangrefused_asked(k->refused, j->sample.procs, asked, ARRAY_SIZE(asked));
	memset(&v, 0, sizeof(v));
	hang_judge(&k->shm->settings, &j->history, c, &v);
	/* what is so soon old enough is judged again by the same evidence: to take it again takes longer */
	if (v.kind == HANG_NONE && v.too_soon && v.again_ns <= soon_ns && j->postponed++ < postponed_most) {
		verdict_over(c);
		j->evidence.next_ns = k->w.mono_ns() + v.again_ns;
		return;
	}
	/* send first: a verdict that could not be sent must come up again */
	bool sent = v.kind == HANG_NONE || v.known_already || incident_send(k, j, index, &v);
	if (sent)
		hang_keep_verdict(&j->history, &v, &j->liveness);
	if (v.kind == HANG_NONE && v.benign && strcmp(j->benign, v.text) != 0) {
		TEXT_COPY(j->benign, v.text);
		line_send(k, j, index, HANG_SAYS_BENIGN, v.text);
	}
	if (v.pace[0])
		line_send(k, j, index, HANG_SAYS_PACE, v.pace);
	verdict_over(c);
	if (sent)
		hangevidence_end(&j->evidence);
	else
		j->evidence.next_ns = k->w.mono_ns() + sample_ns;
}

static void judge_ripe(struct watch *k, struct watched *j, size_t index)
{
	j->evidence.hcase.liveness = &j->liveness;
	if (hang_ripe(&k->shm->settings, &j->history, &j->evidence.hcase))
		judge(k, j, index);
	else /* the next sample may show more */
		j->evidence.next_ns = MAX(j->due_ns, k->w.mono_ns() + ripe_gap_ns);
}

static uint64_t own_cpu_ns(void)
{
	struct timespec t;
	return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0 ? (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec
								: 0;
}

static void threads_save_up(struct watch *k, uint64_t now_ns)
{
	uint64_t gap = k->thread_at_ns ? now_ns - k->thread_at_ns : 0;
	k->thread_at_ns = now_ns;
	k->thread_ns = MIN(k->thread_ns + (uint64_t)((double)gap * thread_share), thread_burst_ns);
}

/* Reads for the rule book what it needs from before a suspicion. */
/* Of jobs that are watched from one moment on a few at a time have the beginning of their counters read. */
static bool baseline_may_read(const struct watch *k, const struct watched *j)
{
	size_t n = 0;
	for (size_t i = 0; i < k->n_jobs; i++)
		n += k->watched[i] && k->watched[i]->rules && hangrules_reads(k->watched[i]->rules);
	return n < EVIDENCE_MOST || hangrules_reads(j->rules);
}

static void rules_sample(struct watch *k, struct watched *j)
{
	if (!j->rules)
		return;
	if (!j->evidence.busy && baseline_may_read(k, j))
		ignore(hangrules_step(j->rules), "the counters' beginning, until it is read");
	if (k->devices.sampled_ns == j->devices_ns)
		return;
	j->devices_ns = k->devices.sampled_ns;
	hangrules_devices(j->rules, &k->devices, &j->sample);
}

/*
 * Sends the first stacks of a standstill to the owner at once: a framework's own time-out may end the ranks before
 * there is a verdict. They are kept for a minute, because later stacks may show ranks that are ending; within it they
 * are replaced only by stacks that name a rank where the first did not.
 */
static void early_send(struct watch *k, struct watched *j, size_t index, struct hangevidence *g, uint64_t since_ns,
		       const char *why)
{
	static struct hang_verdict v;
	static struct hang_case c; /* large, both */
	uint64_t now_ns = k->w.mono_ns();
	bool recent = j->early_ns && now_ns - j->early_ns < early_gap_ns;
	if (since_ns == 0 || (recent && j->early_accuses) || !hangevidence_early(g, &k->w, &c))
		return;
	c.liveness = &j->liveness;
	hang_glance(&k->shm->settings, since_ns, &c, &v);
	bool accuses = v.kind == HANG_HANG && v.n_culprits > 0;
	struct hang_message *m = v.benign || (recent && !accuses) ? NULL : message_new(k, j, index, HANG_SAYS_EARLY);
	if (!m)
		return;
	TEXT_COPY(m->text, why);
	m->verdict = v;
	m->stacks_len = hangevidence_stacks(g, m->stacks, sizeof(m->stacks));
	m->suspected_ns = j->suspected_ns ? j->suspected_ns : v.standstill_ns;
	m->judged_ns = v.standstill_ns;
	message_send(k);
	j->early_ns = now_ns;
	j->early_accuses = accuses;
}

static void early_try(struct watch *k, struct watched *j, size_t index)
{
	if (j->early_tried || !(j->evidence.step.want & HANG_WANT_STACKS) || j->evidence.n_dumps == 0)
		return;
	j->early_tried = true;
	if (!j->history.shares_asked)
		early_send(k, j, index, &j->evidence, j->history.since_ns, j->suspicion);
}

static struct hangevidence_tools tools_of(struct watch *k, const struct watched *j, size_t index,
					 struct hangrules *rules)
{
	const struct hangprocs *c = j->sample.procs;
	return (struct hangevidence_tools){
		.rules = rules,
		.natives = hangsymbols_of(&k->symbols, &k->w, c->n_now ? c->now[0].pid : 0),
		.lookups = k->lookups,
		.alarms = &k->alarms,
		.files = hangmakers_of(k->makers, index),
	};
}

/*
 * A step is late, but no standstill is suspected: takes one dump, beside any evidence that is being gathered. A dump
 * may take 0.1 s of processor time where symbols have to be read, so the pause doubles with each one.
 */
static void late_dump(struct watch *k, struct watched *j, size_t index, const struct hang_step *step, uint64_t now_ns)
{
	struct hang_step one = {.want = HANG_WANT_STACKS, .dumps = 1, .since_ns = step->since_ns};
	static struct hangevidence g; /* large; always ended below */
	if (!step->late || now_ns < j->late_again_ns)
		return;
	j->late_again_ns = now_ns + (early_gap_ns << MIN(j->late_dumps, late_doublings));
	j->late_dumps++;
	const struct hangevidence_tools tools = tools_of(k, j, index, NULL);
	j->looked = true;
	hangevidence_begin(&g, &one, &j->sample, &j->liveness, &tools, now_ns);
	ignore(hangevidence_step(&g, &k->w, &j->sample), "its only dump");
	early_send(k, j, index, &g, step->since_ns, step->text);
	hangevidence_end(&g);
}

/* Ranks that die move once more, so only a step, or a minute without suspicion, withdraws early evidence. */
static void early_withdraw(struct watch *k, struct watched *j, size_t index, const struct hang_step *step,
			   uint64_t now_ns)
{
	bool ok = step->state == HANG_OK && !step->late;
	if (!ok)
		j->ok_ns = 0;
	else if (j->ok_ns == 0)
		j->ok_ns = now_ns;
	if (j->early_ns && ok && (j->liveness.step_ns > j->early_ns || now_ns - j->ok_ns >= early_gap_ns) &&
	    line_send(k, j, index, HANG_SAYS_MOVES, ""))
		j->early_ns = 0;
}

/* Reports a suspicion once for each standstill, at most once a minute. */
static void suspicion(struct watch *k, struct watched *j, size_t index, const struct hang_step *step, uint64_t now_ns)
{
	if (step->state == HANG_OK || step->since_ns == 0) {
		j->suspected_ns = 0;
		return;
	}
	if (j->suspected_ns && !j->unsaid)
		return;
	if (!j->suspected_ns)
		j->suspected_ns = MAX(sub_floor(now_ns, step->since_ns), UINT64_C(1));
	j->unsaid = step->unsaid || step->state == HANG_HUNG; /* a verdict that was told says more */
	if (j->unsaid)
		return;
	if (j->suspect_reported_ns && now_ns - j->suspect_reported_ns < suspect_gap_ns)
		return;
	j->suspect_reported_ns = now_ns;
	line_send(k, j, index, HANG_SAYS_SUSPECT, step->text);
}

/* False: this rank's broken number was reported before, or there is no room to remember that it was. */
static bool is_news(struct hang_reported *t, const char *id, int32_t rank)
{
	if (strcmp(t->id, id) != 0) {
		TEXT_COPY(t->id, id);
		t->n = 0;
	}
	for (uint32_t i = 0; i < t->n; i++)
		if (t->rank[i] == rank)
			return false;
	return t->n < LIVENESS_RANKS;
}

static bool broken_send(struct watch *k, struct watched *j, size_t index, int32_t rank, const char *what, bool has_step,
			uint64_t step)
{
	char who[32] = "", at[48] = "", text[200];
	if (rank != NO_RANK)
		TEXT_FORMAT(who, "rank %d: ", rank);
	if (has_step)
		TEXT_FORMAT(at, " at step %llu", (unsigned long long)step);
	TEXT_FORMAT(text, "%s%s%s; that alone stops nothing", who, what, at);
	return line_send(k, j, index, HANG_SAYS_LOSS, text);
}

/*
 * The output that several ranks share, of which a line does not say whose it is: what it shows of progress belongs to
 * the job. False: there is none, or it is a rank's own.
 */
static bool shared_output(const struct watched *j, const struct liveness_sample *seen, struct liveness_counters *ret)
{
	*ret = (struct liveness_counters){.rank = NO_RANK};
	for (size_t i = 0; i < seen->n; i++)
		if (seen->rank[i].rank == NO_RANK)
			return false;
	if (j->sample.alone == NO_RANK)
		hanglogs_fill(j->sample.logs, NO_RANK, ret);
	return ret->has_progress || ret->progress.loss_broken || ret->progress.norm_broken;
}

/* Reports a NaN or infinite loss, or such gradients, once for each job and rank. */
static void broken_report(struct watch *k, struct watched *j, size_t index, const struct liveness_counters *seen)
{
	struct hang_reported *loss = &k->shm->loss_reported[index], *norm = &k->shm->norm_reported[index];
	const struct liveness_progress *p = &seen->progress;
	if (p->loss_broken && is_news(loss, j->id, seen->rank) &&
	    broken_send(k, j, index, seen->rank, p->loss_infinite ? "the loss became infinite" : "the loss became NaN",
			p->loss_has_step, p->loss_broken_step))
		loss->rank[loss->n++] = seen->rank;
	if (p->norm_broken && is_news(norm, j->id, seen->rank) &&
	    broken_send(k, j, index, seen->rank, "the norm of the gradients stays NaN or infinite",
			p->norm_broken_step > 0, p->norm_broken_step))
		norm->rank[norm->n++] = seen->rank;
}

static void step_publish(struct hang_steps *t, const struct liveness_counters *c)
{
	if (c->has_progress && c->progress.has_step && t->n < HANG_RANKS)
		t->of[t->n++] = (struct hang_rank_step){.rank = c->rank,
							.has_total = c->progress.has_total,
							.step = c->progress.step,
							.total = c->progress.total};
}

static void steps_clear(struct hang_steps *t, uint32_t attempt)
{
	atomic_fetch_add(&t->seq, 1);
	t->attempt = attempt;
	t->n = 0;
	atomic_fetch_add(&t->seq, 1);
}

/* What the output shows of progress, for those who show and tell it. */
static void progress_publish(struct watch *k, struct watched *j, size_t index, const struct liveness_sample *seen)
{
	struct liveness_counters shared;
	struct hang_steps *t = &k->shm->steps[index];
	bool has_shared = shared_output(j, seen, &shared);
	steps_clear(t, j->attempt);
	atomic_fetch_add(&t->seq, 1);
	for (size_t i = 0; i < seen->n; i++)
		step_publish(t, &seen->rank[i]);
	if (has_shared)
		step_publish(t, &shared);
	atomic_fetch_add(&t->seq, 1);
	for (size_t i = 0; i < seen->n; i++)
		broken_report(k, j, index, &seen->rank[i]);
	if (has_shared)
		broken_report(k, j, index, &shared);
}

/* True if the job did nothing since the sample before. */
static bool is_quiet(struct watched *j, const struct liveness_sample *seen)
{
	uint64_t moved = 0;
	for (size_t i = 0; i < seen->n; i++)
		moved += seen->rank[i].count[LIVENESS_CPU] + seen->rank[i].count[LIVENESS_IO_ALL];
	bool same = moved == j->moved;
	j->moved = moved;
	return same;
}

static bool is_idle(const struct watched *j)
{
	return !j->calm && j->benign[0] && !j->evidence.busy;
}

static enum hangsample_rate rate_of(const struct watched *j)
{
	return j->calm ? HANGSAMPLE_NORMAL : is_idle(j) ? HANGSAMPLE_IDLE : HANGSAMPLE_FAST;
}

/*
 * Some programs sleep and poll in turns: reports each new sleep to the judge, as stacks some seconds apart see only
 * one.
 */
static void sleep_read(struct watch *k, struct watched *j)
{
	const struct hangprocs_member *m =
		j->history.sleep_until_ns ? hangprocs_main(j->sample.procs, j->history.sleep_rank) : NULL;
	uint64_t until_ns;
	if (m && j->history.state != HANG_OK && !j->evidence.busy &&
	    hangprocs_sleeps(&k->w, m->pid, j->history.sleep_tid, &until_ns))
		hang_slept(&j->history, until_ns);
}

/* The sample that was taken last. */
struct taken {
	uint64_t ns, cost_ns;
	bool calm; /* the job is not suspected */
	bool quiet; /* it did nothing */
};

static void due_set(const struct watch *k, struct watched *j, const struct taken *t)
{
	if (j->calm && t->calm) {
		j->cost_ns = j->cost_ns ? (j->cost_ns * 7 + t->cost_ns) / 8 : t->cost_ns;
		uint64_t fair = (uint64_t)((double)j->cost_ns * (double)k->n_jobs / share);
		j->due_ns = t->ns + MIN(MAX(fair, t->quiet ? quiet_ns : sample_ns), rarest_ns);
		return;
	}
	j->calm = t->calm;
	j->due_ns = t->ns + (is_idle(j) ? idle_ns : sample_ns);
	if (!j->calm && j->history.again_ns > t->ns) /* evidence is gathered at a sample */
		j->due_ns = MIN(j->due_ns, j->history.again_ns);
}

/*
 * What a program loads it loads in its first minutes. Of a job of many ranks so many main processes are looked at, as
 * they load the same.
 */
static const uint64_t frameworks_after_ns[] = {3 * NS_PER_S, 15 * NS_PER_S, 60 * NS_PER_S, 300 * NS_PER_S};
#define FRAMEWORKS_LOOKED 2

static uint32_t frameworks_read(const struct watch *k, const struct hangprocs *procs)
{
	uint32_t set = 0;
	size_t looked = 0;
	for (size_t i = 0; i < procs->n_now && looked < FRAMEWORKS_LOOKED; i++) {
		const struct hangprocs_member *m = &procs->now[i];
		struct maps maps;
		if (!m->named || (m->who.role != ROLE_MAIN && m->who.role != ROLE_RAY_WORKER) ||
		    maps_read(&k->w, m->pid, &maps) != 0)
			continue;
		looked++;
		set |= frameworks_of(&maps);
		maps_done(&maps);
	}
	return set;
}

static void frameworks_look(struct watch *k, struct watched *j, size_t index, uint64_t now_ns)
{
	struct hang_frameworks *to = &k->shm->frameworks[index];
	if (now_ns < j->frameworks_ns)
		return;
	uint32_t set = frameworks_read(k, j->sample.procs);
	uint64_t whose = hang_whose(j->id, j->attempt);
	if (atomic_load(&to->whose) != whose)
		atomic_store(&to->set, 0);
	atomic_store(&to->whose, whose);
	atomic_fetch_or(&to->set, set);
	j->frameworks_looks++;
	j->frameworks_ns = j->frameworks_looks < ARRAY_SIZE(frameworks_after_ns)
				   ? now_ns + frameworks_after_ns[j->frameworks_looks]
				   : UINT64_MAX;
}

/*
 * Evidence of a job costs child processes and tens of MiB for some seconds, and where a disk or a network stands still,
 * all jobs of a node do. So it is gathered of a few at a time; the others keep what they want until it is their turn.
 */
static void evidence_try(struct watch *k, struct watched *j, size_t index, uint64_t now_ns)
{
	size_t busy = 0;
	for (size_t i = 0; i < k->n_jobs; i++)
		busy += k->watched[i] && k->watched[i]->active && k->watched[i]->evidence.busy;
	if (!j->is_queued || busy >= EVIDENCE_MOST)
		return;
	const struct hangevidence_tools tools = tools_of(k, j, index, j->rules);
	j->is_queued = j->early_tried = false;
	j->looked = true;
	j->postponed = 0;
	hangevidence_begin(&j->evidence, &j->queued, &j->sample, &j->liveness, &tools, now_ns);
}

static void hangwatch_sample(struct watch *k, struct watched *j, size_t index)
{
	static struct liveness_sample seen;
	struct hang_step step;
	uint64_t began = own_cpu_ns(), now_ns = k->w.mono_ns();
	threads_save_up(k, now_ns);
	/* a suspected job has its threads read in every sample */
	uint64_t plenty = NS_PER_S, *thread_ns = j->calm ? &k->thread_ns : &plenty;
	hangdevices_sample(&k->devices, &k->w, j->calm, now_ns);
	hangsample_take(&j->sample, &k->w, &k->job[index], rate_of(j), thread_ns, &k->devices, &seen);
	seen.looked = j->looked || j->evidence.busy;
	j->looked = j->evidence.busy;
	hangprocs_own_publish(j->sample.procs, &k->shm->own[index]);
	hangmakers_step(k->makers, index, j->sample.procs, j->sample.ends, j->attempt);
	bool first = j->moved == UINT64_MAX, quiet = is_quiet(j, &seen);
	hangrespawns_take(index == 0 ? &k->shm->respawns : NULL, j->attempt, j->sample.procs, &seen.respawns);
	liveness_take(&j->liveness, &seen);
	progress_publish(k, j, index, &seen);
	hangdevices_publish(&k->devices, &k->w, j->sample.gpus, j->sample.gpu_rank, j->attempt,
			    &k->shm->devices[index]);
	frameworks_look(k, j, index, now_ns);
	rules_sample(k, j);
	sleep_read(k, j);
	hang_check(&j->history, &k->shm->settings, &j->liveness, &step);
	atomic_fetch_add(&k->shm->samples, 1);
	if (step.resolved && j->reported) {
		j->reported = false;
		line_send(k, j, index, HANG_SAYS_RESOLVED, step.text);
	}
	if (step.fast_again)
		line_send(k, j, index, HANG_SAYS_FAST, step.text);
	if (step.state == HANG_OK)
		j->benign[0] = '\0';
	bool calm = step.state == HANG_OK && !step.closely;
	j->works = calm && !quiet && !first;
	suspicion(k, j, index, &step, now_ns);
	early_withdraw(k, j, index, &step, now_ns);
	late_dump(k, j, index, &step, now_ns);
	if (step.want && !j->evidence.busy) {
		TEXT_COPY(j->suspicion, step.text);
		j->queued = step;
		j->is_queued = true;
	}
	evidence_try(k, j, index, now_ns);
	due_set(k, j, &(struct taken){.ns = now_ns, .cost_ns = own_cpu_ns() - began, .calm = calm, .quiet = quiet});
}

static void watched_begin(struct watch *k, struct watched *j, const struct hang_job *job)
{
	hangevidence_end(&j->evidence);
	j->is_queued = false;
	liveness_forget(&j->liveness);
	memset(&j->history, 0, sizeof(j->history));
	j->active = true;
	j->attempt = job->attempt;
	if (strcmp(j->id, job->id) != 0) {
		wakehist_done(&j->wakes);
		j->number = ++k->n_numbers;
	}
	TEXT_COPY(j->id, job->id);
	j->sample.wakes = &j->wakes;
	j->sample.ends = k->watched[0] == j ? &k->shm->respawns : NULL;
	j->works = false;
	uint64_t now_ns = k->w.mono_ns();
	uint64_t age_ns = job->started_ns ? sub_floor(now_ns, job->started_ns) : 0;
	j->due_ns = now_ns;
	j->cost_ns = j->suspected_ns = j->suspect_reported_ns = 0;
	j->moved = UINT64_MAX; /* the first sample has none before it */
	j->calm = true;
	j->reported = false;
	j->early_ns = j->ok_ns = j->late_again_ns = 0;
	j->late_dumps = 0;
	j->benign[0] = '\0';
	hangsample_begin(&j->sample, job);
	j->devices_ns = 0;
	j->frameworks_ns = now_ns + frameworks_after_ns[0];
	j->frameworks_looks = 0;
	hangrules_free(j->rules);
	j->rules =
		hangrules_new(&k->w, k->shm->rules, &k->progress, job, k->w.unix_ms() - (int64_t)(age_ns / NS_PER_MS));
}

static struct watched *watched_of(struct watch *k, size_t i)
{
	const struct hang_job *job = &k->job[i];
	struct watched *j = k->watched[i];
	if (!job->active) {
		if (j && j->active) {
			hangevidence_end(&j->evidence);
			hangmakers_forget(k->makers, i);
			j->rules = hangrules_free(j->rules);
			j->active = false;
		}
		return NULL;
	}
	if (!j) {
		j = calloc(1, sizeof(*j));
		if (!j || !hangsample_init(&j->sample, k->procstats, &k->progress)) {
			free(j);
			return NULL;
		}
		k->watched[i] = j;
	}
	if (!j->active || strcmp(j->id, job->id) != 0 || j->attempt != job->attempt) {
		atomic_store(&k->shm->own[i].n, 0);
		steps_clear(&k->shm->steps[i], job->attempt);
		hangdevices_forget(&k->shm->devices[i]);
		hangmakers_forget(k->makers, i);
		watched_begin(k, j, job);
	}
	return j;
}

/* Sends what was learned, to be kept for commands that look at the job. */
static void wakers_send(struct watch *k)
{
	for (size_t i = 0; i < k->n_jobs; i++) {
		struct watched *j = k->watched[i];
		struct hang_message *m =
			j && j->active && j->wakes.n > 0 ? message_new(k, j, i, HANG_SAYS_WAKERS) : NULL;
		if (!m)
			continue;
		m->stacks_len = wakehist_text(&j->wakes, m->stacks, sizeof(m->stacks));
		message_send(k);
	}
}

/* The jobs that learning is about: those that work, or, while wakes are counted, all. */
static size_t wakers_jobs(const struct watch *k, struct hangwakers_job job[static HANG_JOBS])
{
	size_t n = 0;
	bool all = hangwakers_counts(k->wakers);
	for (size_t i = 0; i < k->n_jobs; i++) {
		struct watched *j = k->watched[i];
		if (j && j->active && (j->works || all))
			job[n++] = (struct hangwakers_job){j->number, j->sample.procs, &j->wakes};
	}
	return n;
}

/* Evidence of a job is being gathered. */
static bool any_busy(const struct watch *k)
{
	for (size_t i = 0; i < k->n_jobs; i++)
		if (k->watched[i] && k->watched[i]->active && k->watched[i]->evidence.busy)
			return true;
	return false;
}

/* Learns who wakes whom in the jobs that work. Returns when there is more to do. */
static uint64_t wakers_step(struct watch *k)
{
	struct hangwakers_job job[HANG_JOBS];
	if (!k->wakers)
		return UINT64_MAX;
	if (any_busy(k))
		return k->w.mono_ns() + sample_ns; /* it would be ended at once */
	uint64_t next = hangwakers_step(k->wakers, job, wakers_jobs(k, job));
	if (hangwakers_learned(k->wakers))
		wakers_send(k);
	return next;
}

/* Gathering evidence takes seconds at times, and wakes must not be counted for so long. */
static void wakers_over(struct watch *k)
{
	struct hangwakers_job job[HANG_JOBS];
	if (k->wakers && hangwakers_counts(k->wakers))
		hangwakers_end(k->wakers, job, wakers_jobs(k, job));
}

/* Counts attempts to connect while a job is suspected, from when one of these runs: loading takes 15 ms. */
static void refused_step(struct watch *k)
{
	bool suspected = false, stirs = false;
	for (size_t i = 0; i < k->n_jobs; i++) {
		const struct watched *j = k->watched[i];
		if (!j || !j->active || !j->suspected_ns)
			continue;
		suspected = true;
		stirs |= hangprocs_stirred(j->sample.procs, k->w.mono_ns(), stir_ns);
	}
	hangrefused_step(k->refused, suspected, stirs);
}

static bool any_gathers(const struct watch *k)
{
	for (size_t i = 0; i < k->n_jobs; i++)
		if (k->watched[i] && k->watched[i]->evidence.busy && !k->watched[i]->evidence.complete)
			return true;
	return false;
}

/* Does what is due for all jobs. Returns when the next thing is due. */
static uint64_t hangwatch_round(struct watch *k)
{
	uint64_t next = k->w.mono_ns() + rarest_ns;
	atomic_fetch_add(&k->shm->beats, 1);
	jobs_copy(k);
	if (k->w.mono_ns() >= k->round_ns) { /* drops processes that were not read since the last round */
		k->round_ns = k->w.mono_ns() + 2 * rarest_ns;
		procstats_round(k->procstats);
	}
	for (size_t i = 0; i < k->n_jobs; i++) {
		k->w.owner = k->job[i].uid; /* for all that is read below, and by its children */
		struct watched *j = watched_of(k, i);
		if (!j)
			continue;
		atomic_fetch_add(&k->shm->beats, 1);
		if (k->w.mono_ns() >= j->due_ns)
			hangwatch_sample(k, j, i);
		if (j->evidence.busy)
			wakers_over(k);
		bool over = j->evidence.busy && hangevidence_step(&j->evidence, &k->w, &j->sample);
		if (j->evidence.busy)
			early_try(k, j, i);
		if (over && k->w.mono_ns() - j->liveness.now_ns > fresh_ns) /* an old one would make it too soon */
			hangwatch_sample(k, j, i);
		if (over)
			judge_ripe(k, j, i);
		next = MIN(next, j->due_ns);
		if (j->evidence.busy)
			next = MIN(next, j->evidence.next_ns);
	}
	k->w.owner = 0;
	refused_step(k);
	if (!any_gathers(k))
		hanglookups_end(k->lookups);
	next = MIN(next, wakers_step(k));
	next = MIN(next, hangsymbols_rest(&k->symbols, k->w.mono_ns(), any_busy(k)));
	atomic_store(&k->shm->cpu_ns, own_cpu_ns());
	return next;
}

void hangwatch_main(struct hang_shm *shm, int wake_fd)
{
	static struct watch watch; /* large */
	struct watch *k = &watch;
	*k = (struct watch){.shm = shm, .wake_fd = wake_fd};
	if (!hangwatch_begin(k))
		return;
	for (;;) {
		uint64_t next = hangwatch_round(k), now = k->w.mono_ns();
		if (next > now)
			wait_for_jobs(k, next - now);
	}
}
