#include <signal.h>
#include <string.h>

#include "agent/incident/hangreport.h"
#include "agent/stacks/snapshot.h"
#include "agent/run/super.h"
#include "base/log.h"

/* A job that ends before this never pays for the watcher. */
static const uint64_t delay_ns = 1500 * NS_PER_MS;
/* Ranks that are to be ended are kept waiting no longer. */
static const uint64_t last_look_ns = 500 * NS_PER_MS;

static struct hangreport end_of(const struct super *s)
{
	return (struct hangreport){.w = s->w,
				   .recorder = (struct recorder *)(uintptr_t)&s->recorder,
				   .job = (struct job *)(uintptr_t)&s->job,
				   .quiet = s->spec->quiet,
				   .nproc = s->nproc,
				   .next = ""};
}

int super_hang_open(struct super *s)
{
	int r = hangproc_open(&s->hang, s->w, s->spec->hang, s->spec->rules);
	hangproc_progress(&s->hang, s->spec->progress, s->spec->n_progress);
	return r;
}

/* The ranks as they are now. */
void super_hang_jobs(struct super *s)
{
	if (!s->hang.shm)
		return;
	struct hang_job *j = &s->hang.shm->job[0];
	const struct guard_job *g = &s->guard.shm->jobs[0];
	hangproc_jobs_begin(&s->hang);
	s->hang.shm->n_jobs = 1;
	j->active = s->phase == SUPER_RUNNING || s->phase == SUPER_LINGERING;
	TEXT_COPY(j->id, s->job.id);
	j->attempt = s->job.attempt;
	j->started_ns = s->attempt_start_ns;
	TEXT_COPY(j->cgroup, g->has_group ? s->group.memory : "");
	TEXT_COPY(j->freezer, g->has_group ? s->group.freezer : "");
	j->root = getpid();
	j->root_is_ours = false;
	const pid_t helpers[] = {s->guard.pid, s->group.scope.holder, s->notifier.deliverer, s->hang.pid};
	memset(j->not_ours, 0, sizeof(j->not_ours));
	memcpy(j->not_ours, helpers, sizeof(helpers));
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
	hangproc_jobs_end(&s->hang);
	hangproc_want(&s->hang, delay_ns);
}

/* Loading BPF takes a thread: a process is forked before or after it. */
bool super_hang_tick(struct super *s)
{
	bool alone = !s->bpf_started || atomic_load(&s->bpf_done);
	if (!alone || s->phase == SUPER_WAITING || !hangproc_tick(&s->hang))
		return false;
	super_hang_jobs(s); /* it is none of the job's processes */
	return true;
}

/* Stopped ranks cannot obey a request to end. */
static void end_hung(struct super *s, const struct incident *in)
{
	s->hung = true;
	s->hang_incident = *in;
	super_end_others(s, s->spec->on_hang == ON_HANG_RESTART ? "the job hangs and is to be started again"
								: "the job hangs (--on-hang kill)");
	super_attempt_signal(s, SIGCONT);
	super_hang_jobs(s);
}

static void incident_take(struct super *s, const struct hang_message *m)
{
	struct hangreport e = end_of(s);
	static struct incident in; /* large */
	bool of_now = m->attempt == s->job.attempt && s->phase == SUPER_RUNNING;
	bool asked = of_now && m->verdict.kind == HANG_HANG && s->spec->on_hang != ON_HANG_REPORT && !s->stopping;
	bool ends = asked && hang_may_end(&s->hang.shm->settings, &m->verdict);
	if (asked && !ends)
		e.next = HANGREPORT_UNSURE;
	else if (ends)
		e.next = s->spec->on_hang == ON_HANG_KILL
				 ? "The job is ended now, because --on-hang kill was given."
				 : "The job is ended now and started again, because --on-hang restart "
				   "was given.";
	hangreport_incident(&e, m, &in);
	if (m->verdict.kind == HANG_HANG)
		s->hang_incident = in;
	if (ends)
		end_hung(s, &in);
}

void super_hang_forget(struct super *s)
{
	free(s->early);
	s->early = NULL;
	stackdump_done(&s->last_look);
}

static void last_line(const struct rank *r, char *dst, size_t cap)
{
	const struct tee *t = r->err.last_len + r->err.line_len > 0 ? &r->err : &r->out;
	span_copy(t->line_len ? (struct span){t->line, t->line_len} : (struct span){t->last, t->last_len}, dst, cap);
}

void super_hang_last_look(struct super *s, const struct rank *failed)
{
	char text[TEE_LAST_LINE];
	pid_t pids[SUPER_RANKS];
	struct fault f = {.text = ""};
	struct snapshot_want want = {.pids = pids, .native = true, .budget_ns = last_look_ns};
	last_line(failed, text, sizeof(text));
	if (!s->hang.shm || s->early || s->stopping || !hang_says_time_out(text))
		return;
	for (uint32_t i = 0; i < s->nproc; i++)
		if (s->rank[i].running)
			pids[want.n_pids++] = s->rank[i].proc.pid;
	stackdump_done(&s->last_look);
	if (want.n_pids == 0 || snapshot_take(s->w, &want, &s->last_look, &f) != 0)
		return;
	for (size_t i = 0; i < s->last_look.n; i++)
		for (uint32_t k = 0; k < s->nproc; k++)
			if (s->rank[k].proc.pid == s->last_look.processes[i].pid) {
				s->last_look.processes[i].rank = s->rank[k].rank;
				TEXT_COPY(s->last_look.processes[i].role, "main");
			}
}

static void glance_keep(struct super *s, const struct hang_message *m)
{
	size_t size = offsetof(struct hang_message, stacks) + MIN(m->stacks_len, sizeof(m->stacks));
	super_hang_forget(s);
	if (m->attempt != s->job.attempt)
		return;
	s->early = malloc(size);
	if (!s->early)
		return;
	memcpy(s->early, m, size);
	s->glance_ns = s->w->mono_ns();
}

/* The ranks' last words, beside the one whose end is reported. */
static void last_words_add(const struct super *s, struct incident *in)
{
	const uint32_t most = 8;
	char text[TEE_LAST_LINE];
	for (uint32_t i = 0; s->spec->nproc && i < MIN(s->nproc, most); i++) {
		const struct rank *r = &s->rank[i];
		last_line(r, text, sizeof(text));
		if (i != (uint32_t)MAX(s->first_failed, 0) && text[0])
			incident_evidence_add(in, "log_of_others", "", r->ended_unix_ms, "the last line of rank %d: %s", r->rank,
					      text);
	}
}

void super_hang_ended(struct super *s, struct incident *in)
{
	const struct hang_message *m = s->early;
	if (s->stopping)
		return;
	if (!m && s->last_look.n > 0) {
		hang_last_look(&s->last_look, in);
		recorder_stacks(&s->recorder, in->id, &s->last_look);
	}
	if (!m)
		return;
	struct hangreport e = end_of(s);
	hang_ended(&m->verdict, m->text, s->w->mono_ns() - s->glance_ns, in);
	last_words_add(s, in);
	hangreport_early(&e, m, in->id);
}

void super_hang_messages(struct super *s)
{
	const struct hang_message *m;
	while ((m = hangproc_message(&s->hang))) {
		struct hangreport e = end_of(s);
		switch (m->kind) {
		case HANG_SAYS_INCIDENT:
			incident_take(s, m);
			break;
		case HANG_SAYS_RESOLVED:
			if (s->hang_incident.id[0] && !s->hung)
				hangreport_resolved(&e, m, &s->hang_incident);
			break;
		case HANG_SAYS_BENIGN:
			hangreport_benign(&e, m);
			break;
		case HANG_SAYS_SUSPECT:
			hangreport_suspect(&e, m);
			break;
		case HANG_SAYS_EARLY:
			glance_keep(s, m);
			break;
		case HANG_SAYS_MOVES:
			super_hang_forget(s);
			break;
		case HANG_SAYS_LOSS:
			hangreport_loss(&e, m);
			break;
		}
		hangproc_taken(&s->hang);
	}
}

void super_hang_died(struct super *s, const char *how)
{
	log_warning("%s", how);
	recorder_event(&s->recorder, &s->job, "hang_watcher_died", NULL, "%s", how);
	super_hang_jobs(s);
}

void super_hang_retry(struct super *s, const struct retry_decision *d)
{
	struct hangreport e = end_of(s);
	struct incident *in = &s->hang_incident;
	in->retry.valid = true;
	in->retry.attempt = s->job.attempt;
	in->retry.max = s->spec->retry.max;
	in->retry.next = d->next;
	in->retry.delay_ms = d->delay_ns / NS_PER_MS;
	TEXT_COPY(in->retry.reason, d->reason);
	hangreport_update(&e, in);
}
