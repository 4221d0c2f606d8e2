#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "agent/incident/autopsy.h"
#include "agent/guard/guardrecover.h"
#include "agent/incident/killreport.h"
#include "agent/heap/heapcase.h"
#include "agent/run/super.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "tell/incident/report.h"

/* A kill's numbers are complete within milliseconds; a stuck victim may take seconds. */
static const uint64_t case_wait_ns = 4 * NS_PER_S;

/* A job that fails this long after a memory kill fails because of it. */
static const uint64_t consequence_ns = 60 * NS_PER_S;
/* Somebody outside the job may hold its output open; nobody waits for that for long. */
static const uint64_t output_wait_ns = 500 * NS_PER_MS;

static struct guard_case *case_of(struct super *s, uint32_t number)
{
	return &s->guard.shm->cases[(number - 1) % GUARD_CASES];
}

static struct killreport super_caseend(struct super *s)
{
	return (struct killreport){.w = s->w,
				   .recorder = &s->recorder,
				   .job = &s->job,
				   .nproc = s->nproc,
				   .quiet = s->spec->quiet,
				   .retry_max = s->spec->retry.max,
				   .heap_folder = s->heap.folder,
				   .views = &s->ahead.views,
				   .sizes = s->ahead.sizes};
}

/*
 * Had all ranks ended, and well, before this? Then who is left is what they forked away. A rank that ends well after it, even
 * because of it, has had its say.
 */
static bool only_rest(const struct super *s, const struct guard_case *c)
{
	for (uint32_t i = 0; i < s->nproc; i++)
		if (s->rank[i].running || s->rank[i].ended_unix_ms >= c->incident.time_unix_ms)
			return false;
	return s->first_failed < 0;
}

void super_guard_cases(struct super *s)
{
	if (!s->absurd_told && atomic_load(&s->guard.shm->clamped)) {
		s->absurd_told = true;
		killreport_clamped(&s->recorder, &s->job, true);
	}
	uint32_t begun = atomic_load(&s->guard.shm->cases_n);
	while (s->cases_seen < begun) {
		struct guard_case *c = case_of(s, s->cases_seen + 1);
		uint32_t phase = atomic_load(&c->phase);
		bool guard_gone = s->guard.pidfd < 0;
		if (c->number != s->cases_seen + 1) { /* overtaken: the ring went round */
			s->cases_seen++;
			continue;
		}
		if (phase == CASE_DECIDED && s->saved_case != c->number) {
			s->saved_case = c->number;
			struct killreport end = super_caseend(s);
			killreport_look(&end, c);
			guardproc_wake(&s->guard);
			killreport_skeleton(&end);
		}
		if (phase == CASE_DENIED) {
			s->cases_seen++;
			recorder_skeleton_drop(&s->recorder, c->incident.id);
			killreport_denied(&s->recorder, &s->job, c);
			continue;
		}
		if (phase == CASE_CANCELLED || phase == CASE_TOO_LATE) {
			s->cases_seen++;
			recorder_skeleton_drop(&s->recorder, c->incident.id);
			recorder_event(
				&s->recorder, &s->job, "hold_fire", NULL, "%s",
				phase == CASE_TOO_LATE
					? "over the threshold; who was to be ended had already ended by itself"
					: "over the threshold for a moment; memory came back by itself, nobody was "
					  "ended");
			continue;
		}
		if (phase != CASE_DONE && !(guard_gone && phase != CASE_EMPTY))
			return;
		s->cases_seen++;
		s->attempt_kills++;
		s->job.memory_kills++;
		s->period_kills++;
		if (s->pending && s->pending != c)
			super_finish_case(s, s->pending, NULL); /* one was not enough */
		s->pending = c;
		s->rest_killed |= only_rest(s, c);
		s->pending_since_ns = s->last_kill_ns = s->w->mono_ns();
		s->last_victim = c->incident.victim.pid;
		if (phase != CASE_DONE)
			guardrecover_note(s->w, c);
	}
}

void super_finish_case(struct super *s, struct guard_case *c, const struct retry_decision *retry)
{
	struct killreport end = super_caseend(s);
	end.retry = retry;
	for (uint32_t i = 0; i < s->nproc; i++)
		if (s->rank[i].proc.pid == c->incident.victim.pid && !s->rank[i].running) {
			end.has_status = true;
			end.wait_status = s->rank[i].wait_status;
		}
	killreport_finish(&end, c);
	s->pending = NULL;
}

static void wait_for_case(struct super *s)
{
	uint64_t until = s->w->mono_ns() + case_wait_ns;
	while (s->cases_seen < atomic_load(&s->guard.shm->cases_n) && s->w->mono_ns() < until && s->guard.pid > 0) {
		struct pollfd p[2] = {{.fd = s->guard.from_guard_fd, .events = POLLIN},
				      {.fd = s->guard.pidfd, .events = POLLIN}};
		uint64_t count;
		if (poll(p, 2, 50) > 0 && (p[0].revents & POLLIN))
			ignore(read(s->guard.from_guard_fd, &count, sizeof(count)), "only the wake-up counts");
		super_guard_cases(s);
		if (p[1].revents & POLLIN)
			super_guard_died(s);
	}
}

static int status_of(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static size_t former_of(const struct super *s, struct death_former *former, size_t cap)
{
	size_t n = 0;
	for (size_t i = 0; i < GUARD_FORMER && n < cap; i++) {
		const struct guard_former *k = &s->guard.shm->former[i];
		if (k->pid == 0 || k->job != 0 || k->attempt != s->job.attempt)
			continue;
		former[n] = (struct death_former){.pid = k->pid, .rank = k->rank};
		TEXT_COPY(former[n].role, k->role);
		TEXT_COPY(former[n].name, k->name);
		n++;
	}
	return n;
}

static void autopsy_rank(struct super *s, const struct rank *r, struct incident *in)
{
	char out[400], err[400], dir[360];
	TEXT_FORMAT(dir, "%s/attempt-%u", s->recorder.job_dir, s->job.attempt);
	TEXT_FORMAT(out, "%s/rank-%d.out", dir, r->rank);
	TEXT_FORMAT(err, "%s/rank-%d.err", dir, r->rank);
	static struct death_former former[GUARD_FORMER];
	struct autopsy_subject who = {
		.job = s->job.id,
		.attempt = s->job.attempt,
		.pid = r->proc.pid,
		.rank = s->spec->nproc ? r->rank : NO_RANK,
		.start_ticks = r->start_ticks,
		.name = r->row.name,
		.command = s->job.command,
		.has_status = true,
		.wait_status = r->wait_status,
		.start_unix_ms = r->started_unix_ms,
		.end_unix_ms = r->ended_unix_ms,
		.stopping = s->stopping,
		.stop_signal = s->stop_signal,
		.log_out = out,
		.log_err = err,
		.rules = s->spec->rules,
		.error_dir = s->recorder.job_dir[0] ? dir : NULL,
		.n_ranks = s->spec->nproc ? s->nproc : 0,
		.cgroup = s->job.cgroup,
		.own_group = s->group.version != CGROUP_NONE,
		.former = former,
		.n_former = former_of(s, former, GUARD_FORMER),
	};
	autopsy_of(s->autopsy, &who, in);
}

static void attempt_record(struct super *s, enum incident_kind kind)
{
	struct retry_attempt *a = &s->attempt[MIN(s->n_attempts, (uint32_t)SUPER_ATTEMPTS - 1)];
	const struct rank *r = &s->rank[MAX(s->first_failed, 0)];
	*a = (struct retry_attempt){.kind = kind, .lived_ns = s->w->mono_ns() - s->attempt_start_ns,
				    .peak_bytes = s->guard.shm->now.job_peak_bytes[0], .stopping = s->stopping};
	a->has_last_line = tee_last_line_hash(&r->out, &a->last_line_hash) ||
			   tee_last_line_hash(&r->err, &a->last_line_hash);
	s->n_attempts = MIN(s->n_attempts + 1, (uint32_t)SUPER_ATTEMPTS);
}

static void next_attempt(struct super *s, const struct retry_decision *d)
{
	s->phase = SUPER_WAITING;
	s->job.state = JOB_WAITING;
	s->deadline_ns = s->w->mono_ns() + d->delay_ns;
	recorder_event(&s->recorder, &s->job, "retry", s->job.last_incident, "%s", d->reason);
	if (!s->spec->quiet)
		log_info("retrying: %s", d->reason);
}

/* Launchers take a while to notice that one of theirs is gone; much later it died of something else. */
static bool died_for_memory(const struct super *s, const struct rank *r)
{
	if (s->first_failed < 0 || s->attempt_kills == 0 || s->stopping)
		return false;
	return r->proc.pid == s->last_victim || s->w->mono_ns() - s->last_kill_ns < consequence_ns;
}

/* Nobody writes any more, but what was written may still be on its way, on a terminal above all. */
static void outputs_end(struct super *s)
{
	uint64_t until = s->w->mono_ns() + output_wait_ns;
	for (uint32_t i = 0; i < s->nproc; i++) {
		tee_finish(&s->rank[i].out, s->w->mono_ns, until);
		tee_finish(&s->rank[i].err, s->w->mono_ns, until);
	}
}

/* What people look for first, next to what proves something. */
static void last_words(const struct rank *r, struct incident *in)
{
	const struct tee *t = r->err.last_len + r->err.line_len > 0 ? &r->err : &r->out;
	const struct span said = t->line_len ? (struct span){t->line, t->line_len} : (struct span){t->last, t->last_len};
	char text[TEE_LAST_LINE];
	if (said.len == 0)
		return;
	span_copy(said, text, sizeof(text));
	incident_evidence_add(in, "log", t == &r->err ? "stderr" : "stdout", r->ended_unix_ms, "its last line: %s", text);
}

static void other_death(struct super *s, const struct rank *r, struct incident *in)
{
	struct killreport end = super_caseend(s);
	memset(in, 0, sizeof(*in));
	autopsy_rank(s, r, in);
	killreport_common(&end, in);
	last_words(r, in);
	recorder_incident_id(&s->recorder, s->job.id, in->id, sizeof(in->id));
	super_hang_ended(s, in);
	const struct proc_id victim = {r->proc.pid, r->start_ticks};
	if (s->heap.folder[0])
		recorder_heap(&s->recorder, in->id, heapcase_json(s->w, s->heap.folder, &victim, 1, r->row.name));
}

/* Its report was written before it was ended; only what follows is new. */
static void hung_attempt_ended(struct super *s)
{
	struct retry_settings settings = s->spec->retry;
	struct retry_decision d;
	settings.on_hang |= s->spec->on_hang == ON_HANG_RESTART;
	attempt_record(s, INCIDENT_HANG);
	if (s->pending)
		super_finish_case(s, s->pending, NULL);
	retry_decide(&settings, s->attempt, s->n_attempts, &d);
	s->exit_status = 124;
	s->job.other_deaths++;
	s->period_others++;
	super_hang_retry(s, &d);
	s->phase = SUPER_OVER;
	if (d.next == RETRY_RETRY)
		next_attempt(s, &d);
	else if (d.next == RETRY_GIVE_UP && !s->spec->quiet)
		log_info("giving up: %s", d.reason);
}

void super_attempt_ended(struct super *s)
{
	static struct incident in;
	struct retry_decision d;
	outputs_end(s);
	wait_for_case(s);
	notifier_ended(&s->notifier, s->job.id);
	const struct rank *r = &s->rank[MAX(s->first_failed, 0)];
	bool failed = s->first_failed >= 0 || s->rest_killed;
	bool for_memory = s->rest_killed || died_for_memory(s, r);
	s->exit_status = failed ? status_of(r->wait_status) : 0;
	struct guard_job *g = &s->guard.shm->jobs[0];
	guardproc_jobs_begin(&s->guard);
	g->unit.active = false;
	guardproc_jobs_end(&s->guard);
	super_hang_messages(s);
	super_hang_jobs(s);
	if (s->hung) {
		hung_attempt_ended(s);
		return;
	}
	if (!failed) {
		attempt_record(s, INCIDENT_CLEAN_EXIT);
		if (s->pending)
			super_finish_case(s, s->pending, NULL);
		s->phase = SUPER_OVER;
		return;
	}
	if (!for_memory && s->pending)
		super_finish_case(s, s->pending, NULL); /* it ended for another reason since */
	if (!for_memory)
		other_death(s, r, &in);
	attempt_record(s, for_memory ? INCIDENT_MEMORY_KILL : in.kind);
	retry_decide(&s->spec->retry, s->attempt, s->n_attempts, &d);
	if (for_memory) {
		if (s->pending)
			super_finish_case(s, s->pending, &d);
		s->exit_status = 137;
	} else {
		s->job.other_deaths++;
		s->period_others++;
		struct killreport end = super_caseend(s);
		end.retry = &d;
		killreport_retry(&end, &in);
		/* who pressed Ctrl-C knows */
		bool by_hand = s->stopping && (s->stop_signal == SIGINT || s->stop_signal == SIGQUIT);
		s->recorder.notifier = by_hand ? NULL : &s->notifier;
		recorder_incident(&s->recorder, &in);
		TEXT_COPY(s->job.last_incident, in.id);
		recorder_event(&s->recorder, &s->job, incident_kind_name(in.kind), in.id, "%s", in.summary);
		if (!s->spec->quiet && !s->stopping)
			killreport_show(&end, &in);
	}
	s->phase = SUPER_OVER;
	if (d.next == RETRY_RETRY)
		next_attempt(s, &d);
	else if (d.next == RETRY_GIVE_UP && !s->spec->quiet)
		log_info("giving up: %s", d.reason);
}

void super_summary(struct super *s, const char *over)
{
	bool final = strcmp(over, "the whole run") == 0;
	uint32_t kills = final ? s->job.memory_kills : s->period_kills;
	uint32_t others = final ? s->job.other_deaths : s->period_others;
	if (kills == 0 && others < 2)
		return; /* a single ordinary death has been told already */
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	if (!f)
		return;
	report_summary(s->job.id, s->job.node, kills, others, over, f);
	if (fclose(f) == 0 && !s->spec->quiet)
		log_text(text, len);
	free(text);
	s->period_kills = s->period_others = 0;
}
