#include "tell/stacks/stack_show.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mask/mask.h"
#include "model/incident/incident.h" /* NO_RANK */
#include "tell/stacks/stack_show_parts.h"
#include "tell/stacks/stack_go.h"
#include "tell/stacks/stack_tasks.h"
#include "tell/stacks/stack_waits.h"
#include "tell/text/textout.h"

/* ---- text --------------------------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

bool stack_same_frame(const struct dump_frame *a, const struct dump_frame *b)
{
	return a->kind == b->kind && a->line == b->line && a->interp_id == b->interp_id &&
	       same_text(a->name, b->name) && same_text(a->file, b->file) && same_text(a->module, b->module) &&
	       a->n_locals == 0 && b->n_locals == 0;
}

/* True for two threads of a pool with the same frames that wait for the same kind of thing. */
static bool same_thread(const struct dump_thread *a, const struct dump_thread *b)
{
	if (a->main || b->main || a->tid == 0 || b->tid == 0 || a->wait.kind != b->wait.kind ||
	    a->n_frames != b->n_frames || a->n_frames == 0 || a->gil != b->gil || !same_text(a->note, b->note))
		return false;
	for (size_t i = 0; i < a->n_frames; i++)
		if (!stack_same_frame(&a->frames[i], &b->frames[i]))
			return false;
	return true;
}

const char *stack_shade(const struct stack_show *how, const char *code)
{
	return how->color ? code : "";
}

void stack_frame_text(const struct dump_frame *f, const struct stack_show *how, FILE *to)
{
	(void)fprintf(to, "      %s", stack_shade(how, f->kind == FRAME_PYTHON ? "\033[1m" : "\033[2m"));
	textout_put(to, f->name);
	(void)fputs(stack_shade(how, "\033[0m"), to);
	if (f->file) {
		(void)fputs(" (", to);
		textout_put(to, f->file);
		if (f->line > 0)
			(void)fprintf(to, ":%d", f->line);
		(void)fputc(')', to);
	}
	if (f->module && f->kind != FRAME_PYTHON) {
		(void)fputs(" [", to);
		textout_put(to, f->module);
		(void)fputc(']', to);
	}
	if (f->interp_id)
		(void)fprintf(to, " [interpreter %" PRIu64 "]", f->interp_id);
	(void)fputc('\n', to);
	for (size_t i = 0; i < f->n_locals; i++) {
		(void)fprintf(to, "          %s", f->locals[i].is_arg ? "argument " : "");
		textout_put(to, f->locals[i].name);
		(void)fputs(" = ", to);
		textout_put(to, f->locals[i].value);
		(void)fputc('\n', to);
	}
}

static void gil_text(const struct dump_thread *t, FILE *to)
{
	if (t->gil == DUMP_GIL_HOLDS)
		(void)fputs(", holds the GIL", to);
	else if (t->gil == DUMP_GIL_WAITS)
		(void)fputs(", waits for the GIL", to);
}

static void thread_head(const struct dump_process *p, const struct dump_thread *t, const struct stack_show *how,
			FILE *to)
{
	if (t->tid == 0) {
		(void)fprintf(to, "  %sA thread%s", stack_shade(how, "\033[36m"), stack_shade(how, "\033[0m"));
		gil_text(t, to);
		(void)fprintf(to, " (%s)\n", t->note);
		return;
	}
	(void)fprintf(to, "  %sThread %d%s", stack_shade(how, "\033[36m"), (int)t->tid, stack_shade(how, "\033[0m"));
	(void)fputs(" \"", to);
	textout_put(to, t->name);
	(void)fprintf(to, "\"%s: ", t->main ? " (main)" : "");
	textout_put(to, t->wait.text[0] ? stack_waits_in(how->waits, p->pid, t->tid, t->wait.text) : t->wait_kind);
	gil_text(t, to);
	if (t->approximate)
		(void)fputs(", Python and native frames joined by a best guess", to);
	(void)fputc('\n', to);
	if (t->note[0]) {
		(void)fputs("      (", to);
		textout_put(to, t->note);
		(void)fputs(")\n", to);
	}
}

static void twins_text(const struct dump_process *p, size_t i, const bool *done, FILE *to)
{
	size_t n = 0;
	for (size_t k = i + 1; k < p->n_threads; k++)
		if (done[k] && same_thread(&p->threads[i], &p->threads[k]))
			(void)fprintf(to, "%s%d", n++ == 0 ? "  the same: " : ", ", (int)p->threads[k].tid);
	if (n)
		(void)fprintf(to, " (%zu threads)\n", n + 1);
}

/* The line that says whom a thread waits for. */
static void waits_for(const struct dump_process *p, size_t i, const struct stack_show *how, char line[static 900])
{
	line[0] = '\0';
	if (p->threads[i].tid)
		stack_waits_line(how->waits, p->pid, p->threads[i].tid, line, 900);
}

static bool same_wait(const struct dump_process *p, size_t k, const struct stack_show *how, const char *line)
{
	char other[900];
	waits_for(p, k, how, other);
	return strcmp(line, other) == 0;
}

/* Two threads with tasks of their own are shown one by one. */
static bool has_tasks(const struct dump_process *p, pid_t tid)
{
	for (size_t i = 0; i < p->n_tasks; i++)
		if (p->tasks[i].tid == tid)
			return true;
	return false;
}

static void thread_text(const struct dump_process *p, size_t i, bool *done, const struct stack_show *how, FILE *to)
{
	const struct dump_thread *t = &p->threads[i];
	char line[900];
	bool twins = false;
	thread_head(p, t, how, to);
	waits_for(p, i, how, line);
	if (line[0]) {
		(void)fputs("      ", to);
		textout_put(to, line);
		(void)fputc('\n', to);
	}
	for (size_t k = i + 1; !how->all_threads && k < p->n_threads; k++)
		if (!done[k] && same_thread(t, &p->threads[k]) && !has_tasks(p, p->threads[k].tid) &&
		    same_wait(p, k, how, line))
			done[k] = twins = true;
	if (twins)
		twins_text(p, i, done, to);
	for (size_t k = 0; k < t->n_frames; k++)
		stack_frame_text(&t->frames[k], how, to);
	if (t->cut)
		(void)fputs("      … (the stack is deeper than what vigil keeps)\n", to);
	else if (t->incomplete)
		(void)fputs("      … (the outermost native callers could not be found)\n", to);
	if (t->n_frames == 0 && !t->note[0])
		(void)fputs("      (no frames)\n", to);
	if (t->tid)
		stack_tasks_text(p, t->tid, how, to);
}

/* Numerical programs have many threads without Python code: they are counted and shown only when asked for. */
static bool is_hidden(const struct dump_process *p, const struct dump_thread *t, const struct stack_show *how)
{
	return !how->all_threads && p->python[0] && !t->main && !t->has_python && !t->note[0];
}

static void process_head(const struct dump_process *p, const struct stack_show *how, FILE *to)
{
	(void)fprintf(to, "%sProcess %d%s", stack_shade(how, "\033[1;32m"), (int)p->pid, stack_shade(how, "\033[0m"));
	if (p->rank != NO_RANK)
		(void)fprintf(to, ", rank %d", p->rank);
	if (p->role[0] && strcmp(p->role, "other") != 0)
		(void)fprintf(to, ", %s", p->role);
	if (p->python[0])
		(void)fprintf(to, ", CPython %s", p->python);
	if (p->go[0]) {
		(void)fputs(", ", to);
		textout_put(to, p->go);
	}
	if (p->actor[0]) {
		(void)fputs(", actor ", to);
		textout_put(to, p->actor);
	}
	(void)fputs(": ", to);
	textout_put(to, p->command[0] ? p->command : p->name);
	(void)fputc('\n', to);
	if (p->note[0]) {
		(void)fputs("  (", to);
		textout_put(to, p->note);
		(void)fputs(")\n", to);
	}
}

static void process_text(const struct dump_process *p, const struct stack_show *how, FILE *to)
{
	size_t hidden = 0;
	cleanup(freep) bool *done = calloc(p->n_threads + 1, sizeof(*done));
	process_head(p, how, to);
	for (size_t i = 0; done && i < p->n_threads; i++) {
		if (is_hidden(p, &p->threads[i], how))
			hidden++;
		else if (!done[i])
			thread_text(p, i, done, how, to);
	}
	stack_tasks_text(p, 0, how, to);
	if (p->tasks_cut)
		(void)fputs("  there are more asyncio tasks than are read\n", to);
	stack_go_text(p, how, to);
	if (hidden)
		(void)fprintf(to, "  %zu more %s no Python code (--threads all shows %s)\n", hidden,
			      hidden == 1 ? "thread runs" : "threads run", hidden == 1 ? "it" : "them");
}

void stack_text(const struct stackdump *d, const struct stack_show *how, FILE *to)
{
	for (size_t i = 0; i < d->n; i++) {
		if (i)
			(void)fputc('\n', to);
		process_text(&d->processes[i], how, to);
	}
	if (d->cut)
		(void)fputs("\nincomplete: the time was up before all threads were read\n", to);
	if (how->waits_late)
		(void)fputs("\nincomplete: the time was up before all of Python's locks and tasks were read, so who "
			    "waits for whom "
			    "may be missing; `vigil waits` takes longer and has it\n",
			    to);
	if (d->wrong_possible)
		(void)fputs("\npossibly wrong: a thread ran while it was read, so some of its frames may be of another "
			    "moment\n",
			    to);
}

/* ---- JSON --------------------------------------------------------------------------------------------------- */

struct js *stack_frame_json(const struct dump_frame *f)
{
	struct js *j = js_object();
	js_put_text(j, "name", f->name);
	js_put_text_if(j, "file", f->file ? f->file : "");
	if (f->line > 0)
		js_put_i64(j, "line", f->line);
	js_put_text(j, "kind", frame_kind_name(f->kind));
	js_put_text_if(j, "module", f->module ? f->module : "");
	if (f->interp_id)
		js_put_u64(j, "interpreter", f->interp_id);
	if (f->n_locals) {
		struct js *locals = js_array();
		for (size_t i = 0; i < f->n_locals; i++) {
			struct js *l = js_object();
			js_put_text(l, "name", f->locals[i].name);
			js_put_text(l, "value", f->locals[i].value);
			js_put_bool(l, "argument", f->locals[i].is_arg);
			js_add(locals, l);
		}
		js_put(j, "locals", locals);
	}
	return j;
}

static struct js *frames_json(const struct dump_thread *t)
{
	struct js *a = js_array();
	for (size_t i = 0; i < t->n_frames; i++)
		js_add(a, stack_frame_json(&t->frames[i]));
	return a;
}

/* The three states of the JSON format. */
static const char *state_word(const struct threadwait *w)
{
	switch (w->kind) {
	case WAIT_RUNNING:
		return "running";
	case WAIT_LOCK:
	case WAIT_DISK:
	case WAIT_STOPPED:
	case WAIT_MEMORY:
	case WAIT_GPU:
		return "blocked";
	default:
		return "idle";
	}
}

static struct js *wait_json(const struct dump_thread *t)
{
	const struct threadwait *w = &t->wait;
	struct js *j = js_object();
	js_put_text(j, "kind", t->wait_kind);
	js_put_text_if(j, "syscall", t->syscall);
	js_put_text_if(j, "wchan", w->wchan);
	js_put_text_if(j, "target", w->target);
	if (w->fd >= 0)
		js_put_i64(j, "fd", w->fd);
	if (w->owner > 0) {
		js_put_i64(j, "owner_tid", w->owner);
		js_put_bool(j, "owner_gone", w->owner_gone);
	}
	js_change_texts(j, mask_text); /* the target is a name that the program chose */
	return j;
}

static struct js *thread_json(const struct dump_process *p, const struct dump_thread *t, const struct waitgraph *waits)
{
	struct js *j = js_object();
	struct js *whom = t->tid ? stack_waits_json(waits, p->pid, t->tid) : NULL;
	if (t->tid)
		js_put_i64(j, "tid", t->tid);
	js_put_text_if(j, "name", t->name);
	js_put_bool(j, "main", t->main);
	js_put_text(j, "state", state_word(&t->wait));
	if (t->gil != DUMP_GIL_UNKNOWN) {
		js_put_bool(j, "holds_gil", t->gil == DUMP_GIL_HOLDS);
		js_put_bool(j, "waits_for_gil", t->gil == DUMP_GIL_WAITS);
	}
	if (t->wait.kind != WAIT_RUNNING) {
		js_put_text_if(j, "waiting_on", stack_waits_in(waits, p->pid, t->tid, t->wait.text));
		js_put(j, "wait", wait_json(t));
	}
	if (whom)
		js_put(j, "waits_for", whom);
	if (t->approximate)
		js_put_bool(j, "approximate", true);
	if (t->cut)
		js_put_bool(j, "cut", true);
	if (t->incomplete)
		js_put_bool(j, "incomplete", true);
	js_put_text_if(j, "note", t->note);
	js_put(j, "frames", frames_json(t));
	return j;
}

static struct js *stack_show_process_json(const struct dump_process *p, const struct waitgraph *waits)
{
	struct js *j = js_object();
	struct js *threads = js_array();
	char state[2] = {p->state, '\0'};
	js_put_i64(j, "pid", p->pid);
	if (p->rank != NO_RANK)
		js_put_i64(j, "rank", p->rank);
	js_put_text_if(j, "role", p->role);
	js_put_text(j, "name", p->name);
	js_put_text_if(j, "command", p->command);
	js_put_text_if(j, "actor_name", p->actor);
	js_put_text(j, "state", state);
	js_put_text_if(j, "python", p->python);
	js_put_text_if(j, "note", p->note);
	for (size_t i = 0; i < p->n_threads; i++)
		js_add(threads, thread_json(p, &p->threads[i], waits));
	js_put(j, "threads", threads);
	if (p->n_tasks)
		js_put(j, "tasks", stack_tasks_json(p));
	if (p->tasks_cut)
		js_put_bool(j, "tasks_cut", true);
	js_put_text_if(j, "go", p->go);
	if (p->n_goroutines)
		js_put(j, "goroutines", stack_go_json(p));
	if (p->n_unread)
		js_put_u64(j, "goroutines_unread", p->n_unread);
	return j;
}

struct js *stack_json(const struct stackdump *d, const struct waitgraph *waits)
{
	struct js *j = js_object();
	struct js *processes = js_array();
	js_put_text(j, "schema", "vigil.stacks/1");
	js_put_i64(j, "captured_unix_ms", d->captured_unix_ms);
	js_put_u64(j, "took_us", d->took_ns / NS_PER_US);
	js_put_u64(j, "first_us", d->first_ns / NS_PER_US);
	js_put_bool(j, "wrong_possible", d->wrong_possible);
	if (d->cut)
		js_put_bool(j, "cut", true);
	for (size_t i = 0; i < d->n; i++)
		js_add(processes, stack_show_process_json(&d->processes[i], waits));
	js_put(j, "processes", processes);
	return j;
}

struct js *stack_incident_json(const struct stackdump *d, const struct waitgraph *waits)
{
	struct js *a = js_array();
	for (size_t i = 0; i < d->n; i++) {
		const struct dump_process *p = &d->processes[i];
		for (size_t k = 0; k < p->n_threads; k++) {
			const struct dump_thread *t = &p->threads[k];
			struct js *j = js_object();
			if (t->n_frames == 0) {
				js_free(j);
				continue;
			}
			if (p->rank != NO_RANK)
				js_put_i64(j, "rank", p->rank);
			js_put_i64(j, "pid", p->pid);
			js_put_text_if(j, "role", p->role);
			if (t->tid)
				js_put_i64(j, "tid", t->tid);
			js_put_text(j, "thread", t->name);
			if (t->wait.kind != WAIT_RUNNING)
				js_put_text_if(j, "waiting_on", stack_waits_in(waits, p->pid, t->tid, t->wait.text));
			struct js *whom = t->tid ? stack_waits_json(waits, p->pid, t->tid) : NULL;
			if (whom)
				js_put(j, "waits_for", whom);
			js_put(j, "frames", frames_json(t));
			js_add(a, j);
		}
	}
	return a;
}
