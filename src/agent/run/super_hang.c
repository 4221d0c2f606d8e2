#include <signal.h>
#include <string.h>

#include "agent/incident/hangreport.h"
#include "agent/stacks/snapshot.h"
#include "agent/run/super.h"
#include "base/log.h"
#include "base/mask/mask.h"
#include "sense/proc/proc.h"

/* The hang watcher is started when the job has lived this long. */
static const uint64_t delay_ns = 1500 * NS_PER_MS;
/* Time for taking the stacks of ranks that are about to be ended. */
static const uint64_t last_look_ns = 500 * NS_PER_MS;

struct hangreport super_hangreport(struct super *s)
{
	return (struct hangreport){.w = s->w,
				   .recorder = &s->recorder,
				   .job = &s->job,
				   .quiet = s->spec->watch.quiet,
				   .nproc = s->nproc,
				   .autopsy = s->autopsy,
				   .next = ""};
}

void super_hang_jobs(struct super *s)
{
	if (!s->services.hang.shm)
		return;
	struct hang_job *j = &s->services.hang.shm->job[0];
	const struct guard_job *g = &s->services.guard.shm->jobs[0];
	hangproc_jobs_begin(&s->services.hang);
	s->services.hang.shm->n_jobs = 1;
	j->active = s->phase == SUPER_RUNNING || s->phase == SUPER_LINGERING;
	TEXT_COPY(j->id, s->job.id);
	j->attempt = s->job.attempt;
	j->uid = s->job.uid;
	j->started_ns = s->attempts.start_ns;
	TEXT_COPY(j->cgroup, g->has_group ? s->group.memory : "");
	TEXT_COPY(j->freezer, g->has_group ? s->group.freezer : "");
	j->root = getpid();
	j->root_is_ours = false;
	_Static_assert(ARRAY_SIZE(j->not_ours) >= SERVICES_HELPERS, "room for all helpers");
	memset(j->not_ours, 0, sizeof(j->not_ours));
	(void)services_helpers(&s->services, j->not_ours);
	j->n_ranks = MIN(s->nproc, (uint32_t)HANG_RANKS);
	for (size_t i = 0; i < j->n_ranks; i++)
		j->rank[i] = (struct hang_rank){.pid = s->rank[i].proc.pid,
						.start_ticks = s->rank[i].start_ticks,
						.rank = s->spec->nproc ? s->rank[i].rank : NO_RANK,
						.ended = !s->rank[i].running,
						.has_status = !s->rank[i].running,
						.wait_status = s->rank[i].wait_status};
	j->log_dir[0] = '\0';
	if (s->recorder.job_dir[0])
		TEXT_FORMAT(j->log_dir, "%s/attempt-%u", s->recorder.job_dir, s->job.attempt);
	hangproc_jobs_end(&s->services.hang);
	hangproc_want(&s->services.hang, delay_ns);
}

/* The last line is looked at so often at most, and of children that have failed so often in a row. */
static const uint64_t words_every_ns = 100 * NS_PER_MS, words_from = 3;

/* The rank below whose main process this one is; the first, where that is not known. */
static const struct rank *rank_above(const struct super *s, pid_t pid)
{
	const int most = 16;
	struct proc_stat st;
	for (int up = 0; s->nproc > 1 && up < most && pid > 1; up++) {
		for (uint32_t i = 0; i < s->nproc; i++)
			if (s->rank[i].proc.pid == pid)
				return &s->rank[i];
		if (proc_stat_read(s->w, pid, &st) != 0)
			break;
		pid = st.ppid;
	}
	return &s->rank[0];
}

/* Blanks between the words, and without secrets. */
static void command_text(struct span args, char dst[static RESPAWN_COMMAND])
{
	size_t n = MIN(args.len, (size_t)RESPAWN_COMMAND - 1);
	memcpy(dst, args.p, n);
	n = mask_args(dst, n);
	while (n > 0 && dst[n - 1] == '\0')
		n--;
	for (size_t i = 0; i < n; i++)
		dst[i] = (unsigned char)dst[i] < ' ' || dst[i] == 0x7f ? ' ' : dst[i];
	dst[n] = '\0';
}

void super_hang_end(void *super, const struct process_end *e, struct span command)
{
	char line[TEE_LAST_LINE], text[RESPAWN_COMMAND];
	struct super *s = super;
	struct hang_respawns *to = s->services.hang.shm ? &s->services.hang.shm->respawns : NULL;
	const uint64_t now_ns = s->w->mono_ns();
	if (!to || e->parent == getpid()) /* an orphan; ranks are not counted here */
		return;
	atomic_fetch_add(&to->seq, 1);
	if (to->attempt != s->job.attempt)
		to->rows.n = to->n_ends = 0;
	to->attempt = s->job.attempt;
	to->end[to->n_ends++ % HANG_ENDS] = (struct hang_end){.pid = e->pid,
							      .start_ticks = e->start_ticks,
							      .wait_status = e->wait_status,
							      .time_unix_ms = e->time_unix_ms};
	struct respawn *r = respawns_end(&to->rows, e, now_ns);
	if (r && r->n >= words_from && now_ns - r->words_ns >= words_every_ns) {
		(void)super_last_line(rank_above(s, r->parent), line);
		mask_text(line);
		command_text(e->forked ? (struct span){"", 0} : command, text);
		respawn_says(r, text, line, now_ns);
	}
	atomic_fetch_add(&to->seq, 1);
}

/* Ask the ranks to end; stopped ones are continued, since they could not obey. */
static void end_hung(struct super *s)
{
	s->hang.kept.ended = true;
	super_end_others(s, ENDED_FOR_HANG,
			 s->spec->watch.on_hang == ON_HANG_RESTART ? "the job hangs and is to be started again"
								   : "the job hangs (--on-hang kill)");
	super_attempt_signal(s, SIGCONT);
	super_hang_jobs(s);
}

void super_hang_incident(struct super *s, const struct hang_message *m)
{
	struct hangreport e = super_hangreport(s);
	static struct incident in; /* large */
	struct attachments parts = {.heap = NULL};
	bool of_now = m->attempt == s->job.attempt && s->phase == SUPER_RUNNING;
	bool asked = of_now && m->verdict.kind == HANG_HANG && s->spec->watch.on_hang != ON_HANG_REPORT &&
		     !s->ending.stopping;
	bool ends = asked && hang_may_end(&s->services.hang.shm->settings, &m->verdict);
	e.unsure = asked && !ends;
	if (e.unsure)
		e.next = HANGREPORT_UNSURE;
	else if (ends)
		e.ends = s->spec->watch.on_hang == ON_HANG_KILL ? "--on-hang kill" : "--on-hang restart";
	if (ends)
		e.next = s->spec->watch.on_hang == ON_HANG_KILL
				 ? "The job is ended now, because --on-hang kill was given."
				 : "The job is ended now and started again, because --on-hang restart "
				   "was given.";
	hangreport_incident(&e, m, &in, &parts);
	jobhang_keep(&s->hang.kept, &m->verdict, &in, &parts);
	attachments_done(&parts);
	if (ends)
		end_hung(s);
}

void super_hang_forget(struct super *s)
{
	jobhang_clear(&s->hang.kept);
	stackdump_done(&s->hang.last_look);
}

void super_hang_last_look(struct super *s, const struct rank *failed)
{
	char text[TEE_LAST_LINE];
	pid_t pids[SUPER_RANKS];
	struct fault f = {.text = ""};
	struct snapshot_want want = {.pids = pids, .native = true, .budget_ns = last_look_ns};
	(void)super_last_line(failed, text);
	if (!s->services.hang.shm || s->hang.kept.early || s->ending.stopping || !hang_says_time_out(text))
		return;
	for (uint32_t i = 0; i < s->nproc; i++)
		if (s->rank[i].running)
			pids[want.n_pids++] = s->rank[i].proc.pid;
	stackdump_done(&s->hang.last_look);
	if (want.n_pids == 0 || snapshot_take(s->w, &want, &s->hang.last_look, &f) != 0)
		return;
	for (size_t i = 0; i < s->hang.last_look.n; i++)
		for (uint32_t k = 0; k < s->nproc; k++)
			if (s->rank[k].proc.pid == s->hang.last_look.processes[i].pid) {
				s->hang.last_look.processes[i].rank = s->rank[k].rank;
				TEXT_COPY(s->hang.last_look.processes[i].role, "main");
			}
}

/* Add the last lines of all other ranks, beside the one whose end is reported. */
static void last_words_add(const struct super *s, struct incident *in)
{
	const uint32_t most = 8;
	char text[TEE_LAST_LINE];
	for (uint32_t i = 0; s->spec->nproc && i < MIN(s->nproc, most); i++) {
		const struct rank *r = &s->rank[i];
		(void)super_last_line(r, text);
		if (i != (uint32_t)MAX(s->attempts.first_failed, 0) && text[0])
			incident_evidence_add(in, "log_of_others", "", r->ended_unix_ms, "the last line of rank %d: %s",
					      r->rank, text);
	}
}

void super_hang_ended(struct super *s, struct incident *in, struct attachments *parts)
{
	if (s->ending.stopping)
		return;
	if (jobhang_ended(&s->hang.kept, s->w->mono_ns(), in, parts)) {
		last_words_add(s, in);
	} else if (s->hang.last_look.n > 0) {
		hang_last_stacks(&s->hang.last_look, in);
		attachments_stacks(parts, &s->hang.last_look);
	}
}

void super_hang_retry(struct super *s, const struct retry_decision *d)
{
	struct hangreport e = super_hangreport(s);
	struct incident *in = s->hang.kept.last;
	if (!in)
		return;
	in->retry.valid = true;
	in->retry.attempt = s->job.attempt;
	in->retry.max = s->spec->retry.max;
	in->retry.next = d->next;
	in->retry.delay_ms = d->delay_ns / NS_PER_MS;
	TEXT_COPY(in->retry.reason, d->reason);
	hangreport_update(&e, in, &s->hang.kept.parts);
}
