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
#include "base/units.h"
#include "judge/death/consequence.h"
#include "judge/death/postmortem.h"
#include "tell/incident/report.h"

/* A kill's numbers are complete within milliseconds; a stuck victim may take seconds. */
static const uint64_t case_wait_ns = 4 * NS_PER_S;

static int exit_status_of(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static size_t former_of(const struct super *s, struct death_former *former, size_t cap)
{
	size_t n = 0;
	for (size_t i = 0; i < GUARD_FORMER && n < cap; i++) {
		const struct guard_former *k = &s->services.guard.shm->former[i];
		if (k->pid == 0 || k->job != 0 || k->attempt != s->job.attempt)
			continue;
		former[n] = (struct death_former){.pid = k->pid, .rank = k->rank};
		TEXT_COPY(former[n].role, k->role);
		TEXT_COPY(former[n].name, k->name);
		n++;
	}
	return n;
}

/* The ranks that have ended, in the order of their numbers. */
static size_t ended_ranks(const struct super *s, struct death_rank *ranks, size_t cap)
{
	size_t n = 0;
	for (uint32_t i = 0; s->spec->nproc && i < s->nproc && n < cap; i++) {
		const struct rank *r = &s->rank[i];
		if (!r->running && r->ended_unix_ms)
			ranks[n++] = (struct death_rank){.rank = r->rank,
							 .pid = r->proc.pid,
							 .wait_status = r->wait_status,
							 .end_unix_ms = r->ended_unix_ms,
							 .by_us = r->ended_by_us};
	}
	return n;
}

/* wait_status: as it ended, or would have ended by itself */
static void autopsy_rank(struct super *s, const struct rank *r, int wait_status, struct incident *in)
{
	char out[400], err[400], dir[360];
	TEXT_FORMAT(dir, "%s/attempt-%u", s->recorder.job_dir, s->job.attempt);
	if (!keeper_spare_path(r->out.file, out, sizeof(out)))
		TEXT_FORMAT(out, "%s/rank-%d.out", dir, r->rank);
	if (!keeper_spare_path(r->err.file, err, sizeof(err)))
		TEXT_FORMAT(err, "%s/rank-%d.err", dir, r->rank);
	static struct death_former former[GUARD_FORMER];
	static struct death_rank ranks[SUPER_RANKS];
	pump_lock(&s->output.pump);
	const struct streamorder order = r->order;
	pump_unlock(&s->output.pump);
	struct autopsy_subject who = {
		.job = s->job.id,
		.attempt = s->job.attempt,
		.pid = r->proc.pid,
		.rank = s->spec->nproc ? r->rank : NO_RANK,
		.start_ticks = r->start_ticks,
		.name = r->row.name,
		.command = s->job.command,
		.has_status = true,
		.wait_status = wait_status,
		.start_unix_ms = r->started_unix_ms,
		.end_unix_ms = r->ended_unix_ms,
		.stopping = s->ending.stopping,
		.stop_signal = s->ending.stop_signal,
		.log_out = out,
		.log_err = err,
		.order = &order,
		.rules = s->spec->watch.rules,
		.error_dir = s->recorder.job_dir[0] ? dir : NULL,
		.n_ranks = s->spec->nproc ? s->nproc : 0,
		.cgroup = s->job.cgroup,
		.own_group = s->group.version != CGROUP_NONE,
		.former = former,
		.n_former = former_of(s, former, GUARD_FORMER),
		.has_limits = r->has_limits,
		.has_cpu = r->has_cpu,
		.cpu_ns = r->cpu_ns,
		.ranks = ranks,
		.n_ended = ended_ranks(s, ranks, SUPER_RANKS),
		.store = recorder_store(&s->recorder),
		.job_dir = s->recorder.job_dir,
	};
	memcpy(who.soft_limit, r->soft_limit, sizeof(who.soft_limit));
	memcpy(who.hard_limit, r->hard_limit, sizeof(who.hard_limit));
	autopsy_of(s->autopsy, &who, in);
	services_ray_victim(&s->services, 0, in);
}

/* in: its report, NULL: it has none of its own */
static void attempt_record(struct super *s, enum incident_kind kind, const struct incident *in)
{
	struct retry_attempt *a = &s->attempts.done[MIN(s->attempts.n, (uint32_t)SUPER_ATTEMPTS - 1)];
	const struct rank *r = &s->rank[MAX(s->attempts.first_failed, 0)];
	*a = (struct retry_attempt){.kind = kind,
				    .lived_ns = s->w->mono_ns() - s->attempts.start_ns,
				    .peak_bytes = super_peak_bytes(s),
				    .stopping = s->ending.stopping || (in && incident_asked(in->cause.id))};
	a->has_last_line =
		lastline_hash(&r->out.last, &a->last_line_hash) || lastline_hash(&r->err.last, &a->last_line_hash);
	s->attempts.n = MIN(s->attempts.n + 1, (uint32_t)SUPER_ATTEMPTS);
}

static void next_attempt(struct super *s, const struct retry_decision *d)
{
	s->phase = SUPER_WAITING;
	s->job.state = JOB_WAITING;
	s->deadline_ns = s->w->mono_ns() + d->delay_ns;
	recorder_job(&s->recorder, &s->job);
	recorder_event(&s->recorder, &s->job, "retry", s->job.last_incident, "%s", d->reason);
	if (!s->spec->watch.quiet)
		log_info("retrying: %s", d->reason);
}

static void over_or_again(struct super *s, const struct retry_decision *d)
{
	s->phase = SUPER_OVER;
	if (d->next == RETRY_RETRY)
		next_attempt(s, d);
	else if (d->next == RETRY_GIVE_UP && !s->spec->watch.quiet)
		log_info("giving up: %s", d->reason);
}

/*
 * True if this attempt failed because of a memory kill. Launchers take a while to notice that a worker is gone; much
 * later the cause is another one.
 */
static bool died_for_memory(const struct super *s, const struct rank *r)
{
	if (s->attempts.first_failed < 0 || s->kills.n == 0 || s->ending.stopping)
		return false;
	return r->proc.pid == s->kills.last_victim || consequence_of_kill(s->kills.last_ns, s->w->mono_ns());
}

/* Add what people look for first: the last line of output. */
static void last_words(const struct rank *r, struct incident *in)
{
	char text[TEE_LAST_LINE];
	bool err = super_last_line(r, text);
	if (text[0])
		incident_evidence_add(in, "log", err ? "stderr" : "stdout", r->ended_unix_ms, "its last line: %s",
				      text);
}

/* True for a rank that failed by itself, though vigil may have asked it to end meanwhile. */
static bool failed_by_itself(const struct rank *r)
{
	if (r->running || r->wait_status == 0)
		return false;
	const int signal = WIFSIGNALED(r->wait_status) ? WTERMSIG(r->wait_status) : 0;
	return !r->ended_by_us || (signal == 0 && WEXITSTATUS(r->wait_status) != 128 + SIGTERM) ||
	       (signal != SIGTERM && signal != SIGKILL);
}

/* It left by a call of exit() with a status of its own: Python leaves with 1 after an exception. */
static bool chose_to_end(const struct rank *r)
{
	return failed_by_itself(r) && WIFEXITED(r->wait_status) && WEXITSTATUS(r->wait_status) > 1;
}

/* The report was judged by what the rank ended with, but the signal that it was asked to end with came before. */
static void real_status(const struct rank *r, struct incident *in)
{
	const int signal = WTERMSIG(r->wait_status);
	in->victim.has_exit_code = false;
	in->victim.exit_code = 0;
	in->victim.signal = signal;
	for (size_t i = 0; i < in->n_evidence; i++)
		if (strcmp(in->evidence[i].kind, "wait_status") == 0)
			TEXT_FORMAT(in->evidence[i].text,
				    "ended by signal %d, which vigil sent because another rank had ended, while it was "
				    "ending by itself",
				    signal);
}

/* All ranks but one gave up waiting; that one was still running. */
static void waited_for(const struct rank *r, struct incident *in)
{
	struct buf b = BUF_ON(in->cause.text);
	b.len = strlen(in->cause.text);
	buf_printf(&b, " Rank %d (pid %d) was still running and says nothing of a timeout: the others waited for it.",
		   r->rank, (int)r->proc.pid);
	in->culprit_ranks[in->n_culprits++] = r->rank;
}

/*
 * Ranks that are found dead together are found in the order of their numbers; who noticed a loss may be among them. The
 * kernel has told in which order they ended.
 */
static void first_failed_by_ends(struct super *s)
{
	for (uint32_t i = 0; i < s->nproc && s->attempts.first_failed >= 0; i++) {
		const struct rank *r = &s->rank[i], *first = &s->rank[s->attempts.first_failed];
		const struct proc_id one = {r->proc.pid, r->start_ticks}, other = {first->proc.pid, first->start_ticks};
		if (failed_by_itself(r) && autopsy_ended_before(s->autopsy, &one, &other))
			s->attempts.first_failed = (int)i;
	}
}

static const struct rank *chosen_death(struct super *s, const struct rank *r, struct incident *in)
{
	memset(in, 0, sizeof(*in));
	autopsy_rank(s, r, r->wait_status, in);
	return r;
}

/* The report is on the rank's own end, and not on that of a worker which it then missed. */
static bool of_itself(const struct incident *i, const struct rank *r)
{
	return i->victim.pid == r->proc.pid && strcmp(i->cause.id, "worker_signal_sent") != 0;
}

/*
 * The rank that was found to have ended first may only have noticed that another one was gone, which took longer to
 * end: its death is told then.
 */
static const struct rank *root_death(struct super *s, const struct rank *first, struct incident *in)
{
	const uint32_t most = 8;
	static struct incident other; /* large */
	const struct rank *silent = NULL; /* the only one that does not speak of a lost peer */
	const struct rank *chosen = NULL; /* left by itself, with a status that no exception gives */
	uint32_t n_silent = 0;
	autopsy_rank(s, first, first->wait_status, in);
	if (!postmortem_may_follow(in))
		return first;
	for (uint32_t i = 0, n = 0; i < s->nproc && n < most; i++) {
		const struct rank *r = &s->rank[i];
		bool asked_to_end = r != first && !r->running && r->wait_status != 0 && !failed_by_itself(r);
		if (r == first || r->running || r->wait_status == 0)
			continue;
		n++;
		memset(&other, 0, sizeof(other));
		/* what it says it ended with came before we asked it to end */
		autopsy_rank(s, r, asked_to_end ? 1 << 8 : r->wait_status, &other);
		const bool own = of_itself(&other, r);
		if (asked_to_end && own &&
		    (other.kind == INCIDENT_KILLED_BY || strncmp(other.cause.id, "exit_", 5) == 0)) {
			silent = n_silent++ ? NULL : r;
			continue;
		}
		bool asked = other.killer == KILLER_VIGIL || (other.killer == KILLER_SIGNAL && r->ended_by_us && own);
		const bool follows = other.kind == INCIDENT_PEER_LOST || postmortem_may_follow(&other);
		if (!follows && !asked && !chosen && chose_to_end(r))
			chosen = r;
		if (follows || asked || other.cause.confidence == CONFIDENCE_LOW)
			continue;
		incident_evidence_add(&other, "other_rank", "", in->time_unix_ms, "rank %d (pid %d) noticed it: %.250s",
				      first->rank, (int)first->proc.pid, in->summary);
		if (asked_to_end && WIFSIGNALED(r->wait_status))
			real_status(r, &other);
		if (other.n_culprits == 0)
			other.culprit_ranks[other.n_culprits++] = r->rank;
		*in = other;
		return r;
	}
	if (chosen)
		return chosen_death(s, chosen, in);
	const bool waited =
		strcmp(in->cause.id, "collective_timeout") == 0 || strcmp(in->cause.id, "gloo_peer_absent") == 0;
	if (silent && waited)
		waited_for(silent, in);
	else if (in->kind == INCIDENT_PEER_LOST && s->nproc > 1) /* which rank was gone first is not known */
		in->cause.confidence = CONFIDENCE_LOW;
	return first;
}

/* A report that quotes a log whose middle is gone says so. */
static void kept_in_part(const struct super *s, struct incident *in)
{
	const struct keptlogs *kept = &s->output.kept;
	char most[24], left_out[24];
	if (kept->left_out_bytes > 0)
		incident_evidence_add(in, "not_read", "output", 0,
				      "%s of the job's output are not kept: it was more than %s (--keep-output), and "
				      "beginnings and ends are kept",
				      size_format(kept->left_out_bytes, left_out), size_format(kept->most_bytes, most));
	uint64_t gaps = 0;
	for (size_t i = 0; i < ARRAY_SIZE(s->output.keeper.file); i++)
		if (s->output.keeper.file[i].used)
			gaps += s->output.keeper.file[i].gap_bytes;
	if (gaps > 0)
		incident_evidence_add(in, "not_read", "output", 0,
				      "%s of the job's output are not kept: they came faster than they could be; the "
				      "kept copy says where",
				      size_format(gaps, left_out));
}

static void other_death(struct super *s, const struct rank *r, struct incident *in, struct attachments *parts)
{
	struct killreport e = super_killreport(s);
	memset(in, 0, sizeof(*in));
	r = root_death(s, r, in);
	killreport_common(&e, in);
	last_words(r, in);
	kept_in_part(s, in);
	recorder_incident_id(&s->recorder, s->job.id, in->id, sizeof(in->id));
	super_hang_ended(s, in, parts);
	const struct proc_id victim = {r->proc.pid, r->start_ticks};
	if (s->tools.heap.files.folder[0])
		attachments_heap(parts, heapcase_json(s->w, s->tools.heap.files.folder, &victim, 1, r->row.name));
}

/* A hung attempt has ended. Its report was written before, so only the retry is new. */
static void hung_attempt_ended(struct super *s)
{
	struct retry_settings settings = s->spec->retry;
	struct retry_decision d;
	settings.on_hang |= s->spec->watch.on_hang == ON_HANG_RESTART;
	attempt_record(s, INCIDENT_HANG, NULL);
	if (s->kills.pending)
		super_finish_case(s, s->kills.pending, NULL);
	retry_decide(&settings, s->attempts.done, s->attempts.n, &d);
	s->exit_status = 124;
	s->job.other_deaths++;
	s->tally.others++;
	super_hang_retry(s, &d);
	over_or_again(s, &d);
}

/* A rank that ended as its user asked on the page, and those that vigil ended with it, did not fail. */
static void stop_was_asked(struct super *s, const struct rank *first)
{
	for (uint32_t i = 0; i < s->nproc; i++) {
		struct rank *r = &s->rank[i];
		if (r->row.wait_status == 0 || (r != first && !r->asked_for))
			continue;
		TEXT_COPY(r->row.ended_for, ENDED_FOR_STOP);
		recorder_process(&s->recorder, &r->row);
	}
}

/* Report a death that was not for memory. A user who pressed Ctrl-C at this terminal is not notified of it. */
static void other_death_report(struct super *s, struct incident *in, const struct attachments *parts,
			       const struct retry_decision *d)
{
	const struct super_ending *ending = &s->ending;
	bool by_hand = ending->stopping && (ending->stop_signal == SIGINT || ending->stop_signal == SIGQUIT);
	struct killreport e = super_killreport(s);
	s->job.other_deaths++;
	s->tally.others++;
	e.retry = d;
	killreport_retry(&e, in);
	recorder_incident(&s->recorder, in, parts, !by_hand);
	TEXT_COPY(s->job.last_incident, in->id);
	recorder_event(&s->recorder, &s->job, incident_kind_name(in->kind), in->id, "%s", in->summary);
	if (!s->spec->watch.quiet && !ending->stopping)
		killreport_show(&e, in);
}

static void failed_attempt_ended(struct super *s, const struct rank *r, bool for_memory)
{
	static struct incident in; /* large */
	struct attachments parts = {.heap = NULL};
	struct retry_decision d;
	if (!for_memory && s->kills.pending)
		super_finish_case(s, s->kills.pending, NULL); /* the attempt has ended for another reason since */
	if (!for_memory)
		other_death(s, r, &in, &parts);
	attempt_record(s, for_memory ? INCIDENT_MEMORY_KILL : in.kind, for_memory ? NULL : &in);
	retry_decide(&s->spec->retry, s->attempts.done, s->attempts.n, &d);
	s->job.stopped = !for_memory && in.kind == INCIDENT_KILLED_BY && incident_asked(in.cause.id);
	if (s->job.stopped)
		stop_was_asked(s, r);
	if (!for_memory)
		other_death_report(s, &in, &parts, &d);
	else if (s->kills.pending)
		super_finish_case(s, s->kills.pending, &d);
	if (for_memory)
		s->exit_status = 137;
	attachments_done(&parts);
	over_or_again(s, &d);
}

void super_attempt_ended(struct super *s)
{
	super_output_finish(s, s->job.attempt < s->job.max_retries);
	super_sample_attempt_end(s);
	services_cases_wait(&s->services, case_wait_ns);
	notifier_ended(&s->services.notifier, s->job.id);
	first_failed_by_ends(s);
	const struct rank *r = &s->rank[MAX(s->attempts.first_failed, 0)];
	bool failed = s->attempts.first_failed >= 0 || s->kills.rest_killed;
	bool for_memory = s->kills.rest_killed || died_for_memory(s, r);
	s->exit_status = failed ? exit_status_of(r->wait_status) : 0;
	struct guard_job *g = &s->services.guard.shm->jobs[0];
	guardproc_jobs_begin(&s->services.guard);
	g->unit.active = false;
	guardproc_jobs_end(&s->services.guard);
	services_hang_messages(&s->services);
	super_hang_jobs(s);
	if (s->hang.kept.ended) {
		hung_attempt_ended(s);
		return;
	}
	if (failed) {
		failed_attempt_ended(s, r, for_memory);
		return;
	}
	attempt_record(s, INCIDENT_CLEAN_EXIT, NULL);
	if (s->kills.pending)
		super_finish_case(s, s->kills.pending, NULL);
	s->phase = SUPER_OVER;
}

void super_summary(struct super *s, const char *over)
{
	bool final = strcmp(over, "the whole run") == 0;
	uint32_t kills = final ? s->job.memory_kills : s->tally.kills;
	uint32_t others = final ? s->job.other_deaths : s->tally.others;
	if (kills == 0 && others < 2)
		return; /* a single ordinary death has been reported already */
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	if (!f)
		return;
	report_summary(s->job.id, s->job.node, kills, others, over, f);
	if (fclose(f) == 0 && !s->spec->watch.quiet)
		log_text(text, len);
	free(text);
	s->tally.kills = s->tally.others = 0;
}
