#include "tell/incident/report.h"

#include <string.h>

#include "base/buf.h"
#include "base/units.h"
#include "tell/text/textout.h"

/* "(IP: 10.0.0.5, ID: node-1)"; unknown parts are left out. */
static void add_node(struct buf *b, const struct incident *i)
{
	if (!i->node[0] && !i->node_ip[0])
		return;
	buf_add(b, " (");
	if (i->node_ip[0])
		buf_printf(b, "IP: %s%s", i->node_ip, i->node[0] ? ", " : "");
	if (i->node[0])
		buf_printf(b, "ID: %s", i->node);
	buf_add(b, ")");
}

static void add_task(struct buf *b, const struct incident *i)
{
	char gb[24];
	buf_printf(b, "task ID: %s", i->job[0] ? i->job : "unknown");
	if (i->victim.rank != NO_RANK)
		buf_printf(b, "/rank-%d", i->victim.rank);
	if (i->victim.name[0])
		buf_printf(b, ", name=%s", i->victim.name);
	if (i->victim.pid > 0)
		buf_printf(b, ", pid=%ld", (long)i->victim.pid);
	if (i->victim.has_memory)
		buf_printf(b, ", memory used=%s", size_format_gb(i->victim.own_bytes, gb));
}

static void add_memory(struct buf *b, const struct incident *i)
{
	char used[24], total[24];
	if (!i->memory.valid) {
		buf_add(b, " could not be read at that moment.");
		return;
	}
	buf_printf(b, " was %s", size_format_gb(i->memory.used_bytes, used));
	if (i->memory.total_bytes > 0)
		buf_printf(b, " / %s (%f)", size_format_gb(i->memory.total_bytes, total), i->memory.ratio);
	if (i->memory.threshold_ratio > 0)
		buf_printf(b, ", which exceeds the memory usage threshold of %g", i->memory.threshold_ratio);
	buf_add(b, ".");
	if (i->memory.scope == MEMORY_SCOPE_CONTAINER || i->memory.scope == MEMORY_SCOPE_JOB)
		buf_printf(b, " This is the limit of the %s%s%s%s, not of the whole machine.",
			   memory_scope_name(i->memory.scope), i->memory.level[0] ? " (" : "", i->memory.level,
			   i->memory.level[0] ? ")" : "");
}

static void add_worker(struct buf *b, const struct incident *i)
{
	buf_printf(b, " vigil killed this worker (ID: %s", i->job[0] ? i->job : "unknown");
	if (i->victim.rank != NO_RANK)
		buf_printf(b, "/rank-%d", i->victim.rank);
	buf_printf(b, "/attempt-%u)", i->attempt);
	if (i->policy.reason[0])
		buf_printf(b, " because %s", i->policy.reason);
	if (i->id[0])
		buf_printf(b, "; to see more information about memory usage on this node, use `vigil why %s`", i->id);
	buf_add(b, ".");
	if (!i->job[0])
		return;
	buf_printf(b, " To see the logs of the worker, use `vigil logs %s", i->job);
	if (i->victim.rank != NO_RANK)
		buf_printf(b, " --rank %d", i->victim.rank);
	buf_add(b, "`.");
}

static void print_top(const struct incident *i, FILE *to)
{
	if (i->n_top == 0)
		return;
	const struct textout p = {.to = to};
	fprintf(to, "Top %d memory users:\nPID\tMEM(GB)\tCOMMAND\n", INCIDENT_TOP);
	for (size_t n = 0; n < i->n_top; n++) {
		fprintf(to, "%ld\t%.2f\t", (long)i->top[n].pid, (double)i->top[n].own_bytes / (double)GIB);
		textout_cut(&p, i->top[n].command, 100);
		fputc('\n', to);
	}
	fputc('\n', to);
}

/* A paragraph without control characters, not wrapped, so that it can be searched for. */
static void print_line(const char *text, FILE *to)
{
	char clean[3072];
	textout_clean(text, clean, sizeof(clean));
	fprintf(to, "%s\n", clean);
}

static void print_retry(const struct incident *i, FILE *to)
{
	char delay[24], text[512];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	if (!i->retry.valid)
		return;
	const char *reason = i->retry.reason;
	if (i->retry.next == RETRY_RETRY)
		buf_printf(&b, "Retry %u of %u starts in %s.", i->retry.attempt + 1, i->retry.max,
			   duration_format(MIN(i->retry.delay_ms, UINT64_MAX / NS_PER_MS) * NS_PER_MS, delay));
	else if (i->retry.next == RETRY_GIVE_UP)
		buf_printf(&b, "No retry is left (%u of %u)%s%s.", i->retry.attempt, i->retry.max,
			   reason[0] ? ": " : "", reason);
	else if (i->victim.ray_worker_id[0])
		buf_printf(&b, "vigil does not retry it: Ray does, if max_retries of the task, or max_restarts and "
			       "max_task_retries of the actor, allow it.");
	else
		buf_printf(&b, "It is not retried%s%s.", reason[0] ? ": " : "; --retries N would", reason);
	print_line(text, to);
}

static void memory_message(const struct incident *i, FILE *to)
{
	char text[3072];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	bool own_limit = i->memory.valid && i->memory.scope == MEMORY_SCOPE_JOB;
	fprintf(to, "Task was killed due to the %s running low on memory.\n\n", own_limit ? "job" : "node");
	buf_add(&b, own_limit ? "Memory of the job on the node" : "Memory on the node");
	add_node(&b, i);
	buf_add(&b, " where the task (");
	add_task(&b, i);
	buf_add(&b, ") was running");
	add_memory(&b, i);
	add_worker(&b, i);
	print_line(text, to);
	print_top(i, to);
	print_retry(i, to);
	for (size_t n = 0; n < i->cause.n_advice; n++)
		print_line(i->cause.advice[n], to);
	fprintf(to,
		"Consider %s, or reducing parallelism: fewer ranks (--nproc), fewer loader workers, a smaller batch. "
		"To move the threshold, use --memory-threshold or the environment variable VIGIL_MEMORY_THRESHOLD; 0 "
		"switches the guard off.\n",
		own_limit ? "a higher --memory-limit" : "giving the node (or its container) more memory");
}

/* True if all that the cause says is a quote with which the summary ends. */
static bool is_quoted_again(const char *summary, const char *cause)
{
	const char *quote = strstr(cause, ": ");
	size_t said = strlen(summary), n = quote ? strlen(quote + 2) : 0;
	return n > 0 && n <= said && strcmp(summary + said - n, quote + 2) == 0;
}

static void death_message(const struct incident *i, bool kept, FILE *to)
{
	char text[3072];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	buf_printf(&b, "vigil: %s",
		   i->summary[0] ? i->summary : "a process of the job died, and nothing more is known.");
	/* the cause often begins with the words of the summary */
	size_t said = strlen(i->summary);
	bool again = said > 0 && strncmp(i->cause.text, i->summary, said) == 0;
	if (again)
		buf_add(&b, i->cause.text + said);
	else if (i->cause.text[0] && !is_quoted_again(i->summary, i->cause.text))
		buf_printf(&b, "%s %s", said > 0 && !strchr(".!?", i->summary[said - 1]) ? "." : "", i->cause.text);
	print_line(text, to);
	if (i->cause.n_advice > 0) {
		buf_reset(&b);
		buf_printf(&b, "vigil: what to do: %s", i->cause.advice[0]);
		print_line(text, to);
	}
	if (kept && i->id[0]) {
		buf_reset(&b);
		buf_printf(&b, "vigil: the whole report: vigil why %s", i->id);
		print_line(text, to);
	}
}

void report_kill_message(const struct incident *i, bool kept, FILE *to)
{
	if (i->kind == INCIDENT_MEMORY_KILL)
		memory_message(i, to);
	else
		death_message(i, kept, to);
}

void report_summary(const char *job, const char *node, uint32_t memory_kills, uint32_t other_deaths, const char *over,
		    FILE *to)
{
	char text[1024];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	buf_printf(&b, "vigil: %u worker%s killed due to memory pressure (OOM), %u worker%s died for other reasons",
		   memory_kills, memory_kills == 1 ? "" : "s", other_deaths, other_deaths == 1 ? "" : "s");
	if (node && node[0])
		buf_printf(&b, " at node (ID: %s)", node);
	buf_printf(&b, " %s%s. To see more information about them, use `vigil why %s` and `vigil events %s`.",
		   strncmp(over, "in ", 3) == 0 ? "" : "over ", over, job, job);
	print_line(text, to);
}
