#include <string.h>

#include "agent/map/mapstate.h"
#include "base/buf.h"
#include "base/log.h"

int map_fill(struct map *m, const struct map_task *t, uint32_t slot)
{
	struct template_values v = {.arg = (const char *const *)t->args.arg,
				    .n_args = t->args.n,
				    .many = m->spec->many == MAP_PARTED				    ? MANY_PARTED
					    : m->spec->many == MAP_CONTEXT || m->spec->per_task > 0 ? MANY_WORDS
												    : MANY_JOINED,
				    .seq = t->seq,
				    .slot = slot,
				    .total = m->total};
	return template_fill(m->spec->template, &v, &m->words);
}

char *map_line(const struct map *m, const struct map_task *t)
{
	return m->spec->retry_failed ? strdup(t->args.arg[0]) : template_line(&m->words);
}

bool map_resume_done(const struct map *m, uint64_t seq)
{
	const struct joblog_row *row = maplog_find(&m->log, seq);
	if (m->spec->retry_failed && !row)
		return true;
	return row && (m->spec->resume || (row->exit_value == 0 && row->signal == 0));
}

void map_resume_left(struct map *m)
{
	char variable[80];
	if (m->log.fd < 0)
		return;
	TEXT_FORMAT(variable, "VIGIL_MAP_LOG=%s", m->log.id);
	size_t n = mapleft_end(m->w, variable);
	if (n > 0 && !m->spec->quiet)
		log_info("%zu process%s of an earlier run with this joblog, whose vigil is gone, still ran: ended", n,
			 n == 1 ? "" : "es");
}

static int resume_compare(struct map *m, struct map_task *t, struct fault *f)
{
	const struct joblog_row *row = maplog_find(&m->log, t->seq);
	if (!row)
		return 0;
	int r = map_fill(m, t, 1);
	cleanup(freep) char *line = r == 0 ? template_line(&m->words) : NULL;
	if (!line)
		return fault_set(f, -ENOMEM, "no memory to read the joblog");
	if (joblog_same_command(row, line))
		return 0;
	return fault_set(
		f, -EINVAL,
		"%s is the joblog of another run: its task %llu was '%.*s', and here it is '%.160s'; give the same "
		"command and inputs, or name another file",
		m->spec->joblog, (unsigned long long)t->seq, (int)MIN(row->command.len, 160U), row->command.p, line);
}

/* A joblog has a NUL for each newline of a command. */
static char *line_copy(struct span command)
{
	char *line = malloc(command.len + 1);
	for (size_t i = 0; line && i < command.len; i++)
		line[i] = command.p[i] ? command.p[i] : '\n';
	if (line)
		line[command.len] = '\0';
	return line;
}

int map_resume_retry(struct map *m, struct fault *f)
{
	uint64_t n = maplog_last(&m->log);
	m->retry_line = n < SIZE_MAX / sizeof(char *) ? calloc(n + 1, sizeof(char *)) : NULL;
	for (uint64_t seq = 1; m->retry_line && seq <= n; seq++) {
		const struct joblog_row *row = maplog_find(&m->log, seq);
		char *line = row ? line_copy(row->command) : strdup("");
		if (!line)
			return fault_set(f, -ENOMEM, "no memory for the tasks of the joblog");
		m->retry_line[seq - 1] = line;
	}
	if (!m->retry_line)
		return fault_set(f, -ENOMEM, "no memory for the tasks of the joblog");
	m->retried = *m->spec;
	m->retried.source[0] = (struct map_source){.item = m->retry_line, .n = (size_t)n};
	m->retried.n_sources = 1;
	m->spec = &m->retried;
	return 0;
}

int map_resume_check(struct map *m, struct fault *f)
{
	int r = 0;
	if (m->spec->retry_failed || m->spec->pipe)
		return 0; /* the joblog is where they come from; blocks have all the same command */
	if (maplog_last(&m->log) > m->total)
		return fault_set(
			f, -EINVAL,
			"%s is the joblog of another run: it has a task %llu, and here are %llu tasks; give the "
			"same inputs, or name another file",
			m->spec->joblog, (unsigned long long)maplog_last(&m->log), (unsigned long long)m->total);
	/* where {%} stands in it, a command cannot be foretold */
	if (maplog_last(&m->log) == 0 || m->spec->shuffle || template_wants_slot(m->spec->template))
		return 0;
	for (uint64_t seq = 1; r == 0 && seq <= maplog_last(&m->log); seq++) {
		struct map_task t = {.seq = seq};
		r = mapinputs_next(m->in, &t.args, f);
		if (r == 0)
			r = resume_compare(m, &t, f);
		map_args_done(&t.args);
	}
	mapinputs_rewind(m->in);
	return r < 0 ? r : 0;
}
