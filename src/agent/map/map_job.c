#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "agent/host/host.h"
#include "agent/incident/killreport.h"
#include "agent/incident/leftover.h"
#include "agent/incident/story.h"
#include "agent/map/mapstate.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mask/mask.h"
#include "base/path.h"
#include "base/units.h"

/* Tasks that live longer get a row among the processes of the job. */
static const uint64_t row_after_ns = 1 * NS_PER_S;
/* Failures that are events of their own, and kills that are reports of their own; more are only counted. */
#define EVENTS_MAX 100
#define REPORTS_MAX 50

void map_line_masked(const char *text, char *dst, size_t cap)
{
	char whole[4096];
	TEXT_COPY(whole, text);
	mask_text(whole);
	(void)text_copy(dst, cap, whole);
}

static size_t braces_in(const char *text, size_t len)
{
	size_t n = 0;
	for (size_t i = 0; i < len; i++)
		n += text[i] == '{';
	return n;
}

/*
 * Whether a mask would hide an input where the arguments say {}, {1} or {.}: something that looks like a secret is put
 * there in its place. Also true where there is no room to know.
 */
static bool input_is_secret(const char *args, size_t len)
{
	static const char like[] = "Zq7Zq7Zq7Zq7Zq7Zq7Zq7";
	const size_t n = sizeof(like) - 1;
	char tried[16384];
	size_t to = 0, before = 0, after = 0;
	for (size_t at = 0; at < len;) {
		const size_t word = args[at] == '{' ? strcspn(args + at + 1, "{} ") : 0;
		const bool place = args[at] == '{' && at + 1 + word < len && args[at + 1 + word] == '}';
		if (to + n >= sizeof(tried))
			return true;
		memcpy(tried + to, place ? like : args + at, place ? n : 1);
		to += place ? n : 1;
		at += place ? word + 2 : 1;
		before += place;
	}
	to = mask_args(tried, to);
	for (const char *p = tried; (p = memmem(p, to - (size_t)(p - tried), like, n)); p += n)
		after++;
	return after < before;
}

/* The words of the command up to its inputs, whose place is returned; *ret_secret: an input stands for a secret. */
static size_t command_put(char *const *words, struct buf *b, bool *ret_secret)
{
	char args[8192];
	size_t len = 0, n = 0;
	for (; words[n] && strncmp(words[n], ":::", 3) != 0 && len < sizeof(args); n++) {
		(void)text_copy(args + len, sizeof(args) - len, words[n]);
		len += strlen(args + len) + 1;
	}
	if (braces_in(args, len) == 0 && len + sizeof("{}") <= sizeof(args)) { /* inputs go behind the last word */
		memcpy(args + len, "{}", sizeof("{}"));
		len += sizeof("{}");
	}
	*ret_secret = input_is_secret(args, len);
	len = mask_args(args, len);
	for (size_t at = 0, i = 0; at < len && i < n; at += strlen(args + at) + 1, i++)
		buf_printf(b, "%s%s", i ? " " : "", args + at);
	return n;
}

/* Of inputs that stand where the command takes a password there is nothing; files of inputs are named. */
static void command_line(char *const *words, char *dst, size_t cap)
{
	char whole[8192];
	struct buf b = {.text = whole, .cap = sizeof(whole)};
	bool secret = false, files = false;
	buf_reset(&b);
	size_t i = command_put(words, &b, &secret);
	const size_t inputs_at = b.len;
	for (; words[i] && !b.cut; i++) {
		const bool sign = strncmp(words[i], ":::", 3) == 0;
		files = sign ? strncmp(words[i], "::::", 4) == 0 : files;
		buf_printf(&b, " %s", secret && !sign && !files ? "***" : words[i]);
	}
	mask_text(whole + inputs_at);
	(void)text_copy(dst, cap, whole);
}

/* The program's, also where all words were given as one. */
static void job_name(const char *word, char *dst, size_t cap)
{
	span_copy(span_before(span_of(word), " "), dst, cap);
	memmove(dst, path_name(dst), strlen(path_name(dst)) + 1);
}

void map_job_begin(struct map *m)
{
	struct job *j = &m->job;
	struct proc_stat st;
	if (m->spec->name)
		TEXT_COPY(j->name, m->spec->name);
	else
		job_name(m->spec->words[0], j->name, sizeof(j->name));
	mask_text(j->name);
	host_job_id(j->name, j->id, sizeof(j->id));
	command_line(m->spec->words, j->command, sizeof(j->command));
	if (!getcwd(j->cwd, sizeof(j->cwd)))
		j->cwd[0] = '\0';
	host_name(j->node, sizeof(j->node));
	host_user(j->user, sizeof(j->user));
	j->uid = getuid();
	j->nproc = m->slots;
	j->max_retries = m->spec->tries - 1;
	j->state = JOB_RUNNING;
	j->started_unix_ms = m->w->unix_ms();
	j->limit_bytes = m->spec->memory_limit_bytes == UINT64_MAX ? 0 : m->spec->memory_limit_bytes;
	j->supervisor_pid = getpid();
	if (proc_stat_read(m->w, getpid(), &st) == 0)
		j->supervisor_start_ticks = st.start_ticks;
	m->start_boot_ns = clock_boot_ns();
	recorder_open(&m->recorder, m->spec->state_dir, j->id);
	TEXT_COPY(j->log_dir, m->recorder.job_dir);
	map_groups_open(m);
	recorder_begin(&m->recorder, j);
	m->output.kept[0] = recorder_log_open(&m->recorder, 0, 0, "out");
	m->output.kept[1] = recorder_log_open(&m->recorder, 0, 0, "err");
}

/* The store takes some milliseconds to open: the first tasks run meanwhile. */
void map_job_started(struct map *m)
{
	if (m->stored || m->spec->dry_run)
		return;
	m->stored = true;
	recorder_open_store(&m->recorder);
	recorder_job(&m->recorder, &m->job);
	recorder_event(&m->recorder, &m->job, "job_start", NULL, "%s", m->job.command);
}

void map_job_event(struct map *m, const char *kind, const char *fmt, ...)
{
	char text[4096];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	map_job_started(m);
	if (m->spec->dry_run || m->n_events++ >= EVENTS_MAX)
		return;
	recorder_event(&m->recorder, &m->job, kind, NULL, "%s", text);
	if (m->n_events == EVENTS_MAX)
		recorder_event(&m->recorder, &m->job, "events_end", NULL,
			       "more than %d events of tasks: from here on they are only counted", EVENTS_MAX);
}

static void row_fill(struct map *m, struct map_runner *r)
{
	struct proc_stat st;
	struct job_process *p = &r->row;
	*p = (struct job_process){
		.pid = r->pid, .ppid = getpid(), .rank = NO_RANK, .started_unix_ms = r->started_unix_ms};
	if (proc_stat_read(m->w, r->pid, &st) == 0) {
		p->start_ticks = st.start_ticks;
		TEXT_COPY(p->name, proc_known_as(st.comm));
	}
	TEXT_COPY(p->job, m->job.id);
	TEXT_COPY(p->role, "main");
	map_line_masked(r->line, p->command, sizeof(p->command));
}

void map_job_process(struct map *m, struct map_runner *r)
{
	if (r->has_row || m->w->mono_ns() - r->started_ns < row_after_ns)
		return;
	map_job_started(m);
	row_fill(m, r);
	r->has_row = true;
	recorder_process(&m->recorder, &r->row);
}

void map_job_process_end(struct map *m, struct map_runner *r, int status)
{
	if (!r->has_row)
		return;
	r->row.has_status = true;
	r->row.wait_status = status;
	r->row.ended_unix_ms = m->w->unix_ms();
	r->row.own_bytes = r->own_bytes;
	r->row.peak_own_bytes = r->peak_bytes;
	recorder_process(&m->recorder, &r->row);
}

/* ---- a kill for memory ---- */

static void kill_retry(const struct map_runner *r, struct incident *in)
{
	char more[24];
	bool again = r->why == MAP_WHY_MEMORY;
	in->retry.valid = true;
	in->retry.attempt = r->task->kills;
	in->retry.max = r->task->kills + (again ? 1 : 0);
	in->retry.next = again ? RETRY_RETRY : RETRY_GIVE_UP;
	if (again)
		TEXT_FORMAT(in->retry.reason, "it made room for older tasks, and is run again with %s set aside for it",
			    size_format(r->task->reserve_bytes, more));
	else
		TEXT_COPY(in->retry.reason, "it was alone and held all that there is: it would do so again");
	incident_advice_add(
		in, again ? "Fewer tasks at a time (--jobs), or more memory (--memory-limit), would spare the time "
			    "that it ran in vain."
			  : "Give the bag more memory than this task needs (--memory-limit), or make the task "
			    "smaller.");
}

static void kill_describe(struct map *m, const struct map_runner *r, struct incident *in)
{
	char own[24], room[24];
	bool again = r->why == MAP_WHY_MEMORY;
	in->kind = INCIDENT_MEMORY_KILL;
	in->time_unix_ms = m->w->unix_ms();
	in->killer = KILLER_VIGIL;
	TEXT_FORMAT(in->killer_text, "vigil map, pid %d", (int)getpid());
	(void)size_format(r->own_bytes, own);
	(void)size_format(m->memory.room_bytes, room);
	TEXT_FORMAT(in->summary,
		    "task %llu (pid %d) was ended for memory: it held %s of the %s that all tasks may hold%s",
		    (unsigned long long)r->task->seq, (int)r->pid, own, room, again ? "" : ", and was alone");
	TEXT_COPY(in->cause.id, again ? "tasks_beside_each_other" : "task_too_big");
	in->cause.confidence = CONFIDENCE_HIGH;
	TEXT_FORMAT(in->cause.text, again ? "Tasks that run beside each other needed more memory than there is, and "
					    "this one was the newest."
					  : "This task alone needs more memory than there is.");
	in->victim.valid = in->victim.has_memory = true;
	in->victim.pid = r->pid;
	in->victim.rank = NO_RANK;
	in->victim.own_bytes = in->victim.rss_bytes = r->own_bytes;
	in->victim.signal = SIGKILL;
	TEXT_COPY(in->victim.name, m->job.name);
	map_line_masked(r->line, in->victim.command, sizeof(in->victim.command));
	in->memory.valid = true;
	in->memory.used_bytes = in->memory.job_bytes = m->memory.used_bytes;
	in->memory.total_bytes = m->memory.room_bytes;
	in->memory.ratio = m->memory.room_bytes ? (double)m->memory.used_bytes / (double)m->memory.room_bytes : 0;
	in->memory.threshold_ratio = 1;
	in->memory.scope = m->job.limit_bytes ? MEMORY_SCOPE_JOB : MEMORY_SCOPE_NODE;
	TEXT_COPY(in->policy.name, "newest");
	TEXT_COPY(in->policy.reason,
		  again ? "the newest of the suspended tasks goes first, and the oldest never while others run"
			: "no other task was left");
	kill_retry(r, in);
}

void map_job_killed(struct map *m, const struct map_runner *r)
{
	static struct incident in; /* large */
	m->job.memory_kills++;
	map_job_started(m);
	if (m->job.memory_kills > REPORTS_MAX)
		return;
	memset(&in, 0, sizeof(in));
	kill_describe(m, r, &in);
	const struct killreport e = {.w = m->w, .recorder = &m->recorder, .job = &m->job, .nproc = 1};
	killreport_common(&e, &in);
	recorder_incident_id(&m->recorder, m->job.id, in.id, sizeof(in.id));
	recorder_incident(&m->recorder, &in, NULL, false);
	TEXT_COPY(m->job.last_incident, in.id);
	recorder_event(&m->recorder, &m->job, "memory_kill", in.id, "%s", in.summary);
}

void map_job_end(struct map *m, int status)
{
	struct job *j = &m->job;
	if (m->spec->dry_run)
		return;
	map_job_started(m);
	j->state = status == 0 ? JOB_DONE : JOB_FAILED;
	j->has_exit = true;
	j->exit_status = status;
	j->peak_bytes = m->memory.most_bytes;
	j->other_deaths = (uint32_t)MIN(m->tally.failed, (uint64_t)UINT32_MAX);
	recorder_ended(&m->recorder, j, clock_boot_ns() - m->start_boot_ns);
	job_stopped_look(m->recorder.store, j);
	recorder_job(&m->recorder, j);
	recorder_event(&m->recorder, j, "job_end", NULL,
		       "exit status %d: %llu tasks succeeded, %llu failed, %llu were run before", status,
		       (unsigned long long)m->tally.succeeded, (unsigned long long)m->tally.failed,
		       (unsigned long long)m->skipped);
	if (!m->groups_stay)
		leftover_forget(m->spec->state_dir, j->id);
	closep(&m->note_fd);
	recorder_close(&m->recorder);
}
