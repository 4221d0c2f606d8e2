#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "agent/map/mapstate.h"
#include "base/log.h"
#include "base/stats.h"
#include "base/units.h"

/* From SIGTERM to SIGKILL. */
static const uint64_t timeout_grace_ns = 1 * NS_PER_S;
static const uint64_t stop_grace_ns = 10 * NS_PER_S;
/* A share of the median is not used before so many tasks have succeeded. */
#define MEDIAN_AFTER 3

void map_task_free(struct map_task *t)
{
	if (t)
		map_args_done(&t->args);
	free(t);
}

char *map_tag(const struct map *m, const struct map_task *t)
{
	size_t len = 0;
	if (!m->spec->tag)
		return NULL;
	for (size_t i = 0; i < t->args.n; i++)
		len += strlen(t->args.arg[i]) + 1;
	char *tag = malloc(len + 1);
	for (size_t i = 0, at = 0; tag && i < t->args.n; i++) {
		size_t n = strlen(t->args.arg[i]);
		if (i > 0)
			tag[at++] = ' ';
		memcpy(tag + at, t->args.arg[i], n);
		at += n;
		tag[at] = '\0';
	}
	if (tag && t->args.n == 0)
		tag[0] = '\0';
	return tag;
}

/* ---- ending ---- */

void map_kill(struct map *m, struct map_runner *r)
{
	map_signal(m, r, SIGKILL);
}

void map_ask_end(struct map *m, struct map_runner *r, enum map_why why)
{
	if (r->why == MAP_WHY_NONE)
		r->why = why;
	map_memory_resume(m, r);
	map_signal(m, r, SIGTERM);
	map_signal(m, r, SIGCONT); /* a stopped one would not notice */
	r->kill_ns = m->w->mono_ns() + (why == MAP_WHY_STOP ? stop_grace_ns : timeout_grace_ns);
}

static uint64_t timeout_ns(const struct map *m)
{
	double sorted[MAP_TIMES];
	if (m->spec->timeout_ratio <= 0 || m->n_times < MEDIAN_AFTER)
		return m->spec->timeout_ns;
	size_t n = (size_t)MIN(m->n_times, (uint64_t)MAP_TIMES);
	memcpy(sorted, m->time_s, n * sizeof(*sorted));
	return (uint64_t)(stats_median(sorted, n) * m->spec->timeout_ratio * (double)NS_PER_S) + 1;
}

void map_end_timers(struct map *m)
{
	uint64_t now = m->w->mono_ns(), limit_ns = timeout_ns(m);
	for (uint32_t i = 0; i < m->n_runners; i++) {
		struct map_runner *r = m->runner[i];
		if (r->kill_ns > 0 && now >= r->kill_ns)
			map_kill(m, r);
		else if (r->kill_ns == 0 && limit_ns > 0 && !r->suspended &&
			 now - r->started_ns >= limit_ns + r->suspended_ns)
			map_ask_end(m, r, MAP_WHY_TIMEOUT);
	}
}

uint64_t map_end_due_ns(const struct map *m)
{
	uint64_t next = UINT64_MAX, limit_ns = timeout_ns(m);
	for (uint32_t i = 0; i < m->n_runners; i++) {
		const struct map_runner *r = m->runner[i];
		if (r->kill_ns > 0)
			next = MIN(next, r->kill_ns);
		else if (limit_ns > 0 && !r->suspended)
			next = MIN(next, r->started_ns + limit_ns + r->suspended_ns);
	}
	return next;
}

/* ---- the outcome of one ---- */

void map_count(struct map *m, bool failed, int status)
{
	m->tally.failed += failed;
	m->tally.succeeded += !failed;
	enum halt_when halt = halt_judge(&m->spec->halt, m->tally.failed, m->tally.succeeded, m->total);
	if (halt == HALT_NEVER || m->halt != HALT_NEVER || m->fatal)
		return;
	m->halt = halt;
	m->tally.halted = true;
	m->tally.halt_status = status;
	if (!m->spec->quiet)
		log_info("--halt: no more tasks are started%s", halt == HALT_NOW && m->n_runners
									? ", and those that run are "
									  "ended"
									: "");
	for (uint32_t i = 0; halt == HALT_NOW && i < m->n_runners; i++)
		map_ask_end(m, m->runner[i], MAP_WHY_STOP);
}

static struct joblog_row ended_row(const struct map_runner *r, int status, uint64_t run_ms)
{
	bool ended = r->why == MAP_WHY_TIMEOUT || r->why == MAP_WHY_TOO_BIG;
	int by = r->why == MAP_WHY_TIMEOUT ? SIGTERM : SIGKILL;
	return (struct joblog_row){.seq = r->task->seq,
				   .start_unix_ms = r->started_unix_ms,
				   .run_ms = run_ms,
				   .send_bytes = r->task->args.in_bytes,
				   .exit_value = ended		     ? -1
						 : WIFEXITED(status) ? WEXITSTATUS(status)
								     : 0,
				   .signal = ended		   ? by
					     : WIFSIGNALED(status) ? WTERMSIG(status)
								   : 0,
				   .command = span_of(r->line)};
}

static void row_write(struct map *m, const struct joblog_row *row)
{
	int e = maplog_write(&m->log, row);
	if (e < 0 && !m->complained) {
		m->complained = true;
		log_warning("cannot write the joblog %s: %s; what it does not name is run again by --resume",
			    m->spec->joblog, strerror(-e));
	}
}

/* Passes on what the task wrote; row: as it will be in the joblog, or NULL. */
static void output_over(struct map *m, struct map_runner *r, struct joblog_row *row)
{
	cleanup(freep) char *tag = map_tag(m, r->task);
	if (m->spec->results_as == MAP_FOLDERS) {
		uint64_t receive = mapoutput_over(&m->output, r->task->seq, &r->files, tag);
		if (row)
			row->receive_bytes = receive;
		return;
	}
	if (row) {
		row->receive_bytes = mapoutput_over_row(&m->output, row, &r->task->args, &r->files, tag);
	} else {
		mapoutput_drop(&m->output, &r->files);
		mapoutput_skip(&m->output, r->task->seq);
	}
	if (m->output.table_error < 0 && !m->fatal) {
		log_error("--results: cannot write %s: %s; no more tasks are started", m->spec->results,
			  strerror(-m->output.table_error));
		m->fatal = 125;
	}
}

static void try_again(struct map *m, struct map_task *t)
{
	*m->again_end = t;
	m->again_end = &t->next;
}

static void too_big_say(struct map *m, const struct map_runner *r)
{
	char held[24], room[24], line[201];
	m->tally.for_memory = true;
	map_line_masked(r->line, line, sizeof(line));
	log_error("task %llu is too big: alone, it held %s, and %s is all that tasks may hold here (%s); it was ended, "
		  "and "
		  "is not tried again: %s",
		  (unsigned long long)r->task->seq, size_format(r->peak_bytes, held),
		  size_format(m->memory.room_bytes, room),
		  m->spec->memory_limit_bytes == UINT64_MAX ? "a twentieth is left to the machine" : "--memory-limit",
		  line);
}

/* r is out of the table, and all of its processes are gone. */
static void runner_over(struct map *m, struct map_runner *r, int status, uint64_t max_rss_bytes)
{
	bool failed = !(WIFEXITED(status) && WEXITSTATUS(status) == 0) || r->why == MAP_WHY_TIMEOUT;
	bool for_memory = r->why == MAP_WHY_MEMORY && failed, too_big = r->why == MAP_WHY_TOO_BIG && failed;
	bool stopping = m->stops > 0 || m->halt == HALT_NOW;
	uint64_t run_ms = (m->w->mono_ns() - r->started_ns) / NS_PER_MS;
	if (for_memory)
		r->task->tries--, r->task->kills++; /* it made room for others: that is no failure of its own */
	if (failed && !stopping && !too_big && (for_memory || r->task->tries < m->spec->tries)) {
		mapoutput_drop(&m->output, &r->files);
		try_again(m, r->task);
		r->task = NULL;
		return;
	}
	if (r->why == MAP_WHY_NONE)
		map_memory_learn(m, r, r->peak_bytes ? r->peak_bytes : max_rss_bytes);
	struct joblog_row row = ended_row(r, status, run_ms);
	if ((r->why == MAP_WHY_STOP || for_memory) && failed) {
		output_over(m, r, NULL);
		return; /* not the task's own end: --resume runs it again */
	}
	output_over(m, r, &row);
	row_write(m, &row);
	if (failed)
		map_job_event(m, "task_failed", "task %llu (pid %d) failed: %s %d: %s",
			      (unsigned long long)r->task->seq, (int)r->pid,
			      WIFSIGNALED(status) ? "signal" : "exit status",
			      WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), r->line);
	if (!failed)
		m->time_s[m->n_times++ % MAP_TIMES] = (double)run_ms / 1e3;
	if (r->why == MAP_WHY_TIMEOUT && !m->spec->quiet) {
		char line[201];
		map_line_masked(r->line, line, sizeof(line));
		log_warning("task %llu was ended: it ran longer than --timeout allows: %s",
			    (unsigned long long)r->task->seq, line);
	}
	if (too_big)
		too_big_say(m, r);
	map_count(m, failed, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

static struct map_runner *runner_take(struct map *m, pid_t pid)
{
	for (uint32_t i = 0; i < m->n_runners; i++) {
		struct map_runner *r = m->runner[i];
		if (r->pid != pid)
			continue;
		m->n_runners--;
		memmove(m->runner + i, m->runner + i + 1, (m->n_runners - i) * sizeof(*m->runner));
		m->slot_used[r->slot] = false;
		return r;
	}
	return NULL;
}

void map_reap(struct map *m)
{
	for (;;) {
		siginfo_t info = {.si_pid = 0};
		int status;
		/* while it is not waited for, its number and that of its group are nobody else's */
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
			return;
		struct map_runner *r = runner_take(m, info.si_pid);
		if (r)
			(void)kill(-info.si_pid, SIGKILL);
		struct rusage used = {.ru_maxrss = 0};
		if (wait4(info.si_pid, &status, 0, &used) < 0)
			status = 0;
		if (!r) {
			map_strays_reaped(m, info.si_pid);
			continue;
		}
		map_groups_over(m, r);
		map_job_process_end(m, r, status);
		runner_over(m, r, status, (uint64_t)used.ru_maxrss * KIB);
		map_task_free(r->task);
		free(r->line);
		free(r);
	}
}
