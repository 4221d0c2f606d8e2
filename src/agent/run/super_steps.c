#include <fcntl.h>
#include <sys/stat.h>

#include "agent/run/super.h"
#include "base/file.h"
#include "sense/framework/progress.h"

/* Read of the end of each kept file; a bar that is drawn again and again has some hundred bytes a line. */
#define TAIL_BYTES 8192

/* What a rank wrote last, by the time of the file. */
struct tail {
	char text[TAIL_BYTES];
	size_t len;
	struct timespec at;
};

/* False: there is no such file, or it is empty. */
static bool tail_read(const char *dir, int32_t rank, const char *suffix, struct tail *t)
{
	char path[PATH_MAX];
	struct stat st;
	TEXT_FORMAT(path, "%s/rank-%d.%s", dir, rank, suffix);
	cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	ssize_t n = pread(fd, t->text, sizeof(t->text), MAX(st.st_size - (off_t)sizeof(t->text), 0));
	if (n <= 0)
		return false;
	struct ansi ansi = {0};
	t->len = ansi_strip(&ansi, t->text, (size_t)n);
	t->at = st.st_mtim;
	return true;
}

static struct hang_rank_step *step_of(struct hang_steps *to, int32_t rank)
{
	for (uint32_t i = 0; i < to->n; i++)
		if (to->of[i].rank == rank)
			return &to->of[i];
	if (to->n == HANG_RANKS)
		return NULL;
	to->of[to->n] = (struct hang_rank_step){.rank = rank};
	return &to->of[to->n++];
}

static void step_line_take(struct span line, const struct progress_patterns *user, int32_t rank, struct hang_steps *to)
{
	struct progress_line p;
	if (line.len == 0 || progress_parse(line, user, &p) != 0 || !p.has_step)
		return;
	struct hang_rank_step *step = step_of(to, rank == NO_RANK ? p.rank : rank);
	if (step)
		*step = (struct hang_rank_step){
			.rank = step->rank, .has_total = p.has_total, .step = p.step, .total = p.total};
}

/* The first line may have lost its begin: it counts only if the file is no longer than what was read. */
static void tail_take(const struct tail *t, const struct progress_patterns *user, int32_t rank, struct hang_steps *to)
{
	size_t from = 0;
	bool whole = t->len < sizeof(t->text);
	for (size_t i = 0; i <= t->len; i++) {
		if (i < t->len && t->text[i] != '\n' && t->text[i] != '\r')
			continue;
		if (whole)
			step_line_take((struct span){t->text + from, i - from}, user, rank, to);
		whole = true;
		from = i + 1;
	}
}

static bool is_before(const struct tail *a, const struct tail *b)
{
	return a->at.tv_sec != b->at.tv_sec ? a->at.tv_sec < b->at.tv_sec : a->at.tv_nsec < b->at.tv_nsec;
}

void super_steps_last(const struct super *s, struct hang_steps *ret)
{
	static struct tail out, err; /* large */
	static struct progress_patterns user;
	char dir[PATH_MAX], why[160];
	size_t at;
	hang_steps_copy(hangproc_steps(&s->services.hang, 0), s->job.attempt, ret);
	if (!s->recorder.job_dir[0])
		return;
	for (size_t i = user.n; i < MIN(s->spec->watch.n_progress, (size_t)PROGRESS_PATTERNS); i++)
		user.n += progress_pattern_init(&user.each[user.n], span_of(s->spec->watch.progress[i]), why, &at) == 0;
	TEXT_FORMAT(dir, "%s/attempt-%u", s->recorder.job_dir, s->job.attempt);
	for (uint32_t i = 0; i < s->nproc; i++) {
		int32_t rank = s->spec->nproc ? s->rank[i].rank : NO_RANK;
		bool has_out = tail_read(dir, s->rank[i].rank, "out", &out);
		bool has_err = tail_read(dir, s->rank[i].rank, "err", &err);
		bool out_first = has_out && has_err && is_before(&out, &err);
		if (out_first)
			tail_take(&out, &user, rank, ret);
		if (has_err)
			tail_take(&err, &user, rank, ret);
		if (has_out && !out_first)
			tail_take(&out, &user, rank, ret);
	}
}
