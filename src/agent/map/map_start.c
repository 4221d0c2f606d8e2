#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "agent/map/mapstate.h"
#include "base/buf.h"
#include "base/log.h"

extern char **environ;

/* So many tasks a place may start before one that waits for more memory. */
#define PASS_OVER 2U

enum { ENV_SEQ, ENV_SLOT, ENV_PID, ENV_LOG, ENV_JOB, ENV_ATTEMPT, ENV_GPUS, ENV_OURS };
static const char *const env_names[] = {"PARALLEL_SEQ=", "PARALLEL_JOBSLOT=", "PARALLEL_PID=",	      "VIGIL_MAP_LOG=",
					"VIGIL_JOB_ID=", "VIGIL_ATTEMPT=",    "CUDA_VISIBLE_DEVICES="};

int map_start_prepare(struct map *m)
{
	size_t n = 0, used = 0;
	while (environ[n])
		n++;
	m->env = calloc(n + ENV_OURS + 1, sizeof(*m->env));
	if (!m->env)
		return -ENOMEM;
	const size_t n_ours = m->spec->gpus_per_task > 0 ? ENV_OURS : ENV_GPUS;
	for (; used < n_ours; used++)
		m->env[used] = m->env_text[used];
	for (size_t i = 0; i < n; i++) {
		bool ours = false;
		for (size_t k = 0; k < n_ours; k++)
			ours |= strncmp(environ[i], env_names[k], strlen(env_names[k])) == 0;
		if (!ours)
			m->env[used++] = environ[i];
	}
	TEXT_FORMAT(m->env_text[ENV_PID], "PARALLEL_PID=%d", (int)getpid());
	TEXT_FORMAT(m->env_text[ENV_LOG], "VIGIL_MAP_LOG=%s", m->log.id);
	TEXT_FORMAT(m->env_text[ENV_ATTEMPT], "VIGIL_ATTEMPT=0");
	m->env[ENV_JOB] = m->env_job;
	if (m->spec->gpus_per_task > 0)
		m->env[ENV_GPUS] = m->env_gpus;
	return 0;
}

static uint32_t slot_free(const struct map *m)
{
	for (uint32_t i = 1; i <= m->slots; i++)
		if (!m->slot_used[i])
			return i;
	return 0;
}

/* ---- what comes next ---- */

static struct map_task *task_again(struct map *m)
{
	struct map_task *t = m->again;
	if (t) {
		m->again = t->next;
		if (!m->again)
			m->again_end = &m->again;
		t->next = NULL;
	}
	return t;
}

static void inputs_failed(struct map *m, const struct fault *f)
{
	log_error("%s; no more tasks are started", f->text);
	m->inputs_over = true;
	m->fatal = 125;
}

/* The next of the inputs that is to be run; NULL: none now. */
static struct map_task *task_new(struct map *m)
{
	struct fault f = {.text = ""};
	while (!m->inputs_over) {
		struct map_task *t = calloc(1, sizeof(*t));
		int r = t ? mapinputs_next(m->in, &t->args, &f) : fault_set(&f, -ENOMEM, "no memory for a task");
		if (r == 0) {
			t->seq = m->next_seq++;
			if (!map_resume_done(m, t->seq))
				return t;
			m->skipped++;
			mapoutput_skip(&m->output, t->seq);
		}
		map_task_free(t);
		if (r < 0)
			inputs_failed(m, &f);
		if (r == MAPINPUTS_END)
			m->inputs_over = true;
		if (r != 0)
			return NULL;
	}
	return NULL;
}

/* ---- starting one ---- */

static void dry_run(struct map *m, const char *line, uint64_t seq)
{
	cleanup(freep) char *clean = m->output.terminal[0] ? mapoutput_shown(line) : NULL;
	if (printf("%s\n", clean ? clean : line) < 0)
		m->fatal = 125;
	mapoutput_skip(&m->output, seq);
	map_count(m, false, 0);
}

static void lines_poll(struct map *m, struct map_runner *r)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct epoll_event ev = {.events = EPOLLIN, .data.u64 = (uint64_t)r->slot << 2 | (i + 2)};
		if (r->files.line[i].fd >= 0)
			(void)epoll_ctl(m->epoll_fd, EPOLL_CTL_ADD, r->files.line[i].fd, &ev);
	}
}

static int stdin_of(const struct map *m, const struct map_task *t)
{
	if (t->args.piped) /* from its beginning, also when it is tried again */
		return lseek(t->args.in_fd, 0, SEEK_SET) < 0 ? m->null_fd : t->args.in_fd;
	bool ours = t->seq == 1 && !mapinputs_use_stdin(m->in) && !isatty(STDIN_FILENO);
	return ours ? -1 : m->null_fd;
}

/* True if the command is a line of shell in one word: it has blanks, and no folder is called like its beginning. */
static bool is_line_of_shell(const struct map *m)
{
	char folder[4096];
	const char *program = m->words.argv[0], *slash = strrchr(program, '/');
	if (m->words.argc != 1 || !strchr(program, ' '))
		return false;
	span_copy((struct span){program, slash ? (size_t)(slash - program) : 0}, folder, sizeof(folder));
	return !slash || access(folder, F_OK) < 0;
}

/* A program that could not be executed. If every task is of the same one, none is started any more. */
static void exec_failed(struct map *m, struct map_runner *r, int error)
{
	bool missing = error == ENOENT;
	const char *hint = strchr(m->words.argv[0], ' ')
				   ? "; a command is given as words, not as one text: for a line of shell write sh -c "
				     "'…'"
			   : missing ? "; check the spelling or give its path"
				     : "";
	if (!m->fatal)
		log_error("cannot run '%s': %s%s", m->words.argv[0], missing ? "no such command" : strerror(error),
			  hint);
	if (template_program(m->spec->template) || (missing && is_line_of_shell(m)))
		m->fatal = missing ? 127 : 126;
	struct joblog_row row = {.seq = r->task->seq,
				 .start_unix_ms = r->started_unix_ms,
				 .exit_value = missing ? 127 : 126,
				 .command = span_of(r->line)};
	if (!m->fatal && maplog_write(&m->log, &row) < 0)
		m->complained = true;
	mapoutput_drop(&m->output, &r->files);
	mapoutput_skip(&m->output, r->task->seq);
	map_count(m, true, row.exit_value);
	map_task_free(r->task);
}

static int runner_spawn(struct map *m, struct map_runner *r)
{
	TEXT_FORMAT(m->env_text[ENV_SEQ], "PARALLEL_SEQ=%llu", (unsigned long long)r->task->seq);
	TEXT_FORMAT(m->env_text[ENV_SLOT], "PARALLEL_JOBSLOT=%u", r->slot);
	map_gpus_of(m, r->slot);
	struct spawn s = {.argv = m->words.argv,
			  .env = m->env,
			  .in_fd = stdin_of(m, r->task),
			  .out_fd = r->files.out,
			  .err_fd = r->files.err,
			  .mask = m->old_mask,
			  .group_fd = map_groups_open_slot(m, r->slot)};
	r->started_unix_ms = m->w->unix_ms();
	r->started_ns = m->last_start_ns = m->w->mono_ns();
	bool grouped = false;
	int c = spawn_start(&s, &r->pid, &grouped);
	r->group = grouped ? m->slot_group[r->slot] : 0;
	closep(&s.group_fd);
	return c;
}

static void runner_free(struct map_runner *r)
{
	free(r->line);
	free(r);
}

/* For want of processes, descriptors or memory: tasks that end give them back. */
static bool start_later(struct map *m, struct map_task *t, int r)
{
	if (m->n_runners == 0 || (r != -EAGAIN && r != -EMFILE && r != -ENFILE && r != -ENOMEM))
		return false;
	t->next = m->again;
	m->again = t;
	if (!t->next)
		m->again_end = &t->next;
	m->held_up = true;
	return true;
}

static void cannot_start(struct map *m, struct map_task *t, int r, const char *text)
{
	if (start_later(m, t, r))
		return;
	if (!m->fatal)
		log_error("cannot start task %llu: %s", (unsigned long long)t->seq, text ? text : strerror(-r));
	m->fatal = 125;
	map_task_free(t);
}

static void task_start(struct map *m, struct map_task *t, uint32_t slot)
{
	struct fault f = {.text = ""};
	struct map_runner *r = calloc(1, sizeof(*r));
	int c = r ? map_fill(m, t, slot) : -ENOMEM;
	if (c == 0 && !(r->line = map_line(m, t)))
		c = -ENOMEM;
	if (c == 0 && m->spec->dry_run) {
		dry_run(m, r->line, t->seq);
		runner_free(r);
		map_task_free(t);
		return;
	}
	if (c == 0)
		c = mapoutput_take(&m->output, &t->args, t->seq, &r->files, &f);
	if (c < 0) {
		cannot_start(m, t, c, f.text[0] ? f.text : NULL);
		if (r)
			runner_free(r);
		return;
	}
	r->task = t;
	r->slot = slot;
	r->need = t->need;
	t->tries++;
	c = runner_spawn(m, r);
	if (c == 0) {
		mapoutput_started(&r->files);
		map_memory_soon(m);
		m->slot_used[slot] = true;
		m->runner[m->n_runners++] = r;
		lines_poll(m, r);
		return;
	}
	if (c > 0) {
		exec_failed(m, r, c);
	} else {
		mapoutput_drop(&m->output, &r->files);
		t->tries--;
		cannot_start(m, t, c, NULL);
	}
	runner_free(r);
}

bool map_start_open(const struct map *m)
{
	bool more = m->again || m->waiting || !m->inputs_over;
	return more && !m->fatal && m->stops == 0 && m->halt == HALT_NEVER && m->n_runners < m->slots &&
	       !mapoutput_full(&m->output);
}

uint64_t map_start_due_ns(const struct map *m)
{
	if (!map_start_open(m) || m->no_memory || m->spec->delay_ns == 0 || m->last_start_ns == 0)
		return UINT64_MAX;
	return m->last_start_ns + m->spec->delay_ns;
}

/* From the queue of those to be tried again, if the first of them fits; NULL: it does not, or there is none. */
static struct map_task *fitting_again(struct map *m)
{
	if (!m->again || !map_memory_admits(m, m->again))
		return NULL;
	m->passed_over = 0;
	return task_again(m);
}

/*
 * A new one, if it fits. It may pass over one that was ended for memory and needs more than there is now, but not for
 * ever: that one then waits until it is alone, if need be.
 */
static struct map_task *fitting_new(struct map *m)
{
	if (m->again && m->passed_over >= PASS_OVER * m->slots)
		return NULL;
	struct map_task *t = m->waiting ? take(&m->waiting) : task_new(m);
	if (!t || map_memory_admits(m, t)) {
		m->passed_over += t && m->again;
		return t;
	}
	m->waiting = t;
	return NULL;
}

void map_start_all(struct map *m)
{
	m->no_memory = m->held_up = false;
	while (map_start_open(m) && !m->held_up) {
		if (map_start_due_ns(m) != UINT64_MAX && m->w->mono_ns() < map_start_due_ns(m))
			return;
		struct map_task *t = fitting_again(m);
		if (!t)
			t = fitting_new(m);
		if (!t) {
			m->no_memory = m->again || m->waiting;
			return;
		}
		task_start(m, t, slot_free(m));
	}
}
