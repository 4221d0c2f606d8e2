#include "agent/speed/speedsteps.h"

#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/foreign.h"

#define SPEEDSTEPS_TAIL (256 * KIB)

/* Reads what has come since, at most the last part of it. */
static void read_on(struct speedsteps_file *f, uint64_t now_ns)
{
	cleanup(freep) char *text = malloc(SPEEDSTEPS_TAIL);
	struct stat st;
	size_t len;
	if (!text || fstat(f->fd, &st) != 0 || st.st_size <= 0)
		return;
	if ((uint64_t)st.st_size - MIN(f->at, (uint64_t)st.st_size) > SPEEDSTEPS_TAIL)
		f->at = (uint64_t)st.st_size - SPEEDSTEPS_TAIL;
	if (file_read_from(f->fd, f->at, text, SPEEDSTEPS_TAIL, &len) != 0)
		return;
	f->at += len;
	progress_feed(&f->progress, text, len, now_ns);
}

static void file_begin(struct speedsteps *s, const struct world *w, const char *path)
{
	struct speedsteps_file *f = &s->file[s->n];
	if (s->n == SPEEDSTEPS_FILES || foreign_open_kept(path, &f->fd) != 0)
		return;
	f->at = 0;
	progress_init(&f->progress, NULL);
	read_on(f, w->mono_ns());
	f->has_first = f->progress.any && f->progress.last.has_step;
	f->first_step = f->has_first ? f->progress.last.step : 0;
	s->n++;
}

void speedsteps_begin(struct speedsteps *s, const struct world *w, const struct job *job)
{
	static const char *const ends[] = {"out", "err"};
	char path[400];
	*s = (struct speedsteps){.started_unix_ms = job->started_unix_ms, .begin_unix_ms = w->unix_ms()};
	if (!job->log_dir[0] || job->adopted)
		return;
	for (uint32_t rank = 0; rank < MAX(job->nproc, 1u) && rank < SPEEDSTEPS_FILES / 2; rank++)
		for (size_t k = 0; k < ARRAY_SIZE(ends); k++) {
			TEXT_FORMAT(path, "%s/attempt-%u/rank-%u.%s", job->log_dir, job->attempt, rank, ends[k]);
			file_begin(s, w, path);
		}
}

static void rate_of(const struct speedsteps *s, const struct speedsteps_file *f, double now_s, struct speed_steps *ret)
{
	double before_s = (double)(s->begin_unix_ms - s->started_unix_ms) / 1e3;
	const struct progress_line *l = &f->progress.last;
	/* Few steps say little of their length; numbers that begin anew with each epoch say nothing of the rate. */
	if (ret->has_rate || !f->has_first || l->step < f->first_step + 3 || f->first_step < 20 || before_s < 5 ||
	    now_s < 1)
		return;
	ret->has_rate = true;
	ret->rate_before = (double)f->first_step / before_s;
	ret->rate_now = (double)(l->step - f->first_step) / now_s;
	ret->step = l->step;
}

void speedsteps_end(struct speedsteps *s, const struct world *w, struct speed_steps *ret)
{
	double now_s = (double)(w->unix_ms() - s->begin_unix_ms) / 1e3;
	*ret = (struct speed_steps){.broken = false};
	for (size_t i = 0; i < s->n; i++) {
		struct speedsteps_file *f = &s->file[i];
		read_on(f, w->mono_ns());
		const struct progress_broken *b = &f->progress.loss;
		if (b->found && !ret->broken) {
			ret->broken = true;
			ret->infinite = b->infinite;
			ret->has_broken_step = b->has_step;
			ret->broken_step = b->step;
		}
		if (f->progress.any && f->progress.last.has_step)
			rate_of(s, f, now_s, ret);
		closep(&f->fd);
	}
	s->n = 0;
}
