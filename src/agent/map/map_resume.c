#include <string.h>

#include "agent/map/mapstate.h"
#include "base/buf.h"
#include "base/log.h"

int map_fill(struct map *m, const struct map_task *t, uint32_t slot)
{
	struct template_values v = {.arg = (const char *const *)t->args.arg,
				    .n_args = t->args.n,
				    .each = m->spec->per_task > 0,
				    .seq = t->seq,
				    .slot = slot,
				    .total = m->total};
	return template_fill(m->spec->template, &v, &m->words);
}

bool map_resume_done(const struct map *m, uint64_t seq)
{
	const struct joblog_row *row = maplog_find(&m->log, seq);
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

int map_resume_check(struct map *m, struct fault *f)
{
	int r = 0;
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
