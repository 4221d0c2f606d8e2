#include "agent/metrics/metricsseries.h"

#include <string.h>
#include <sys/stat.h>

#include "agent/jobs/jobfolder.h"
#include "base/file.h"
#include "sense/rank.h"

#define MAGIC_BYTES 8
/* A series file may pass its bound for a while when writing fails. */
#define READ_MOST (2 * SERIES_MAX_BYTES + MIB)

static size_t rank_place(struct metrics_series *m, int32_t rank)
{
	for (uint32_t i = 0; i < m->n_ranks; i++)
		if (m->rank[i].rank == rank)
			return i;
	if (m->n_ranks == METRICS_RANKS)
		return METRICS_RANKS;
	m->rank[m->n_ranks] = (struct metrics_rank){.rank = rank};
	return m->n_ranks++;
}

/* A new attempt: its ranks have not used anything and have no step yet. */
static void attempt_begin(struct metrics_series *m, uint32_t attempt)
{
	m->attempt = attempt;
	m->n_ranks = 0;
}

static void lanes_take(struct metrics_series *m, const struct series_sample *s)
{
	if (s->mono_ns <= m->last_sample_ns)
		return;
	if (s->attempt != m->attempt)
		attempt_begin(m, s->attempt);
	m->last_sample_ns = s->mono_ns;
	m->sampled_unix_ms = s->time_unix_ms;
	m->group_bytes = s->job_bytes;
	for (uint32_t i = 0; i < s->n_lanes; i++) {
		const struct series_lane *lane = &s->lane[i];
		size_t at = rank_place(m, lane->rank);
		if (at == METRICS_RANKS)
			continue;
		struct metrics_rank *r = &m->rank[at];
		r->has_use = true;
		r->has_io = lane->has_io;
		r->processes = lane->processes;
		r->cpu_ns = lane->cpu_ns;
		r->own_bytes = lane->own_bytes;
		r->rss_bytes = lane->rss_bytes;
		r->read_bytes = lane->read_bytes;
		r->written_bytes = lane->written_bytes;
	}
}

static void step_take(struct metrics_rank *r, const struct series_steps *s, const struct series_step *step)
{
	if (!r->has_step || r->step != step->step)
		r->moved_unix_ms = s->time_unix_ms;
	r->has_step = true;
	r->step = step->step;
	r->has_total = step->has_total && step->total > 0;
	r->total = step->total;
}

static void steps_take(struct metrics_series *m, const struct series_steps *s)
{
	if (s->mono_ns <= m->last_steps_ns)
		return;
	if (s->attempt != m->attempt)
		attempt_begin(m, s->attempt);
	m->last_steps_ns = s->mono_ns;
	bool is_new = step_times_begin(&m->times, s->attempt, s->mono_ns);
	for (uint32_t i = 0; i < s->n; i++) {
		size_t at = rank_place(m, s->of[i].rank);
		if (at < METRICS_RANKS)
			step_take(&m->rank[at], s, &s->of[i]);
		if (is_new)
			step_times_take(&m->times, s->of[i].rank, s->of[i].step);
	}
}

void metricsseries_take(struct metrics_series *m, struct span text)
{
	struct series_reader r;
	static struct series_record rec; /* large */
	static struct step_times before;
	if (series_reader_init(&r, text) < 0)
		return;
	if (series_step_times(text, &before) && before.until_ns >= m->times.until_ns)
		m->times = before;
	while (series_next(&r, &rec)) {
		if (rec.kind == SERIES_SAMPLE)
			lanes_take(m, &rec.sample);
		else if (rec.kind == SERIES_STEPS)
			steps_take(m, &rec.steps);
	}
}

/* Where to read on: the beginning of a file that is not the one of the last call, or was cut. */
static void file_is(struct metrics_series *m, const struct stat *st)
{
	bool same = m->device == (uint64_t)st->st_dev && m->inode == (uint64_t)st->st_ino;
	if (same && m->position <= (uint64_t)st->st_size)
		return;
	m->device = (uint64_t)st->st_dev;
	m->inode = (uint64_t)st->st_ino;
	m->position = MAGIC_BYTES;
}

static int series_open(const char *dir, struct stat *ret)
{
	int fd = -1;
	if (jobfolder_file_open(dir, SERIES_FILE, &fd) < 0)
		return -1;
	if (fstat(fd, ret) < 0)
		closep(&fd);
	return fd;
}

int64_t metricsseries_changed_unix_ms(const char *dir)
{
	struct stat st;
	cleanup(closep) int fd = series_open(dir, &st);
	return fd < 0 ? 0 : (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
}

void metricsseries_read(struct metrics_series *m, const char *dir)
{
	struct stat st;
	size_t len;
	cleanup(closep) int fd = series_open(dir, &st);
	if (fd < 0 || st.st_size < MAGIC_BYTES)
		return;
	file_is(m, &st);
	size_t more = (size_t)MIN((uint64_t)st.st_size - m->position, (uint64_t)READ_MOST);
	if (more == 0)
		return;
	cleanup(freep) char *text = malloc(MAGIC_BYTES + more);
	if (!text || file_read_from(fd, 0, text, MAGIC_BYTES, &len) < 0 || len < MAGIC_BYTES ||
	    file_read_from(fd, m->position, text + MAGIC_BYTES, more, &len) < 0)
		return;
	m->position += len;
	metricsseries_take(m, (struct span){text, MAGIC_BYTES + len});
}
