#include "agent/hang/hanglogs.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/host/world_open.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/foreign.h"
#include "sense/framework/progress.h"
#include "sense/proc/procfile.h"

#define READ_MOST (128 * KIB)
#define LINE_MOST 2048
/* Time stamps of files may be this much off. */
static const uint64_t clocks_ns = 50 * NS_PER_MS;
#define LANES (HANG_RANKS + 1)

/* What one rank has printed, into any file. */
struct lane {
	int32_t rank;
	bool local; /* rank is its number within the node, as its lines say it */
	bool own_file; /* bytes and lines are counted */
	uint64_t bytes, lines;
	uint64_t step_ns, step_slack_ns; /* when its step last grew, and by how much earlier that may have been */
	struct progress progress;
};

struct follow {
	int fd; /* -1: not open yet */
	char name[40];
	bool foreign; /* name is the descriptor of a process (agent/hang/ownlog), no file that vigil keeps */
	bool begun; /* it was open before */
	size_t lane;
	uint64_t at, known; /* known: size when it was opened, which is not counted */
	char line[LINE_MOST]; /* a line without its end yet */
	size_t len;
	size_t step_lane; /* lane whose step the last line shows; SIZE_MAX: it shows none */
};

struct hanglogs {
	const struct progress_patterns *user; /* borrowed; may be NULL */
	char dir[320];
	struct lane lane[LANES];
	size_t n;
	struct follow file[2 * HANG_RANKS];
	size_t n_files;
	int32_t rank[HANG_RANKS]; /* of the job, those that are known */
	size_t n_ranks;
	uint64_t now_ns, before_ns; /* times of this reading and the one before */
	int64_t unix_ms;
	char block[64 * 1024];
};

struct hanglogs *hanglogs_new(const struct progress_patterns *user)
{
	struct hanglogs *l = calloc(1, sizeof(*l));
	if (l)
		l->user = user;
	return l;
}

static void close_all(struct hanglogs *l)
{
	for (size_t i = 0; i < l->n_files; i++)
		closep(&l->file[i].fd);
	l->n_files = 0;
}

struct hanglogs *hanglogs_free(struct hanglogs *l)
{
	if (l)
		close_all(l);
	free(l);
	return NULL;
}

/* SIZE_MAX when there is no room. */
static size_t hanglogs_lane(struct hanglogs *l, int32_t rank, bool local)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->lane[i].rank == rank && l->lane[i].local == local)
			return i;
	if (l->n == LANES)
		return SIZE_MAX;
	l->lane[l->n] = (struct lane){.rank = rank, .local = local};
	progress_init(&l->lane[l->n].progress, l->user);
	return l->n++;
}

void hanglogs_begin(struct hanglogs *l, const char *dir, const int32_t *ranks, size_t n)
{
	static const char *const ends[] = {"out", "err"};
	const int32_t alone = NO_RANK;
	close_all(l);
	l->n = l->n_ranks = 0;
	l->now_ns = 0;
	TEXT_COPY(l->dir, dir);
	if (n == 0) {
		ranks = &alone;
		n = 1;
	}
	for (size_t i = 0; dir[0] && i < MIN(n, (size_t)HANG_RANKS); i++) {
		size_t lane = hanglogs_lane(l, ranks[i], false);
		l->lane[lane].own_file = true;
		for (size_t k = 0; k < ARRAY_SIZE(ends); k++) {
			struct follow *f = &l->file[l->n_files++];
			*f = (struct follow){.fd = -1, .step_lane = SIZE_MAX, .lane = lane};
			TEXT_FORMAT(f->name, "rank-%d.%s", MAX(ranks[i], 0), ends[k]);
		}
	}
}

void hanglogs_follow(struct hanglogs *l, const char *path)
{
	size_t lane = path[0] && l->n_files < ARRAY_SIZE(l->file) ? hanglogs_lane(l, NO_RANK, false) : SIZE_MAX;
	if (lane == SIZE_MAX)
		return;
	struct follow *f = &l->file[l->n_files++];
	l->lane[lane].own_file = true;
	*f = (struct follow){.fd = -1, .step_lane = SIZE_MAX, .lane = lane, .foreign = true};
	TEXT_COPY(f->name, path);
}

/* Starts near the end of the file; what it holds by now does not count as new output. */
static void written_open(const struct world *w, struct follow *f)
{
	struct stat st;
	pid_t pid;
	int fd;
	if (!w || !world_fd_parse(f->name, &pid, &fd) || procfile_written(w, pid, fd, &f->fd) != 0)
		return;
	if (fstat(f->fd, &st) < 0) {
		closep(&f->fd);
		return;
	}
	if (f->begun)
		return;
	f->begun = true;
	f->known = (uint64_t)st.st_size;
	f->at = sub_floor(f->known, READ_MOST);
}

/* Converts a wall time to the monotonic clock; 0: it is not between the two readings, so the clocks differ. */
static uint64_t mono_of(const struct hanglogs *l, int64_t unix_ns)
{
	int64_t ago_ns = l->unix_ms * (int64_t)NS_PER_MS - unix_ns;
	if (ago_ns < -(int64_t)clocks_ns || ago_ns > (int64_t)(l->now_ns - l->before_ns + clocks_ns))
		return 0;
	return ago_ns <= 0 ? l->now_ns : l->now_ns - MIN((uint64_t)ago_ns, l->now_ns);
}

/* Monotonic time of a line's time stamp, in any time zone; 0: none. */
static uint64_t stamp_of(const struct hanglogs *l, const struct logline *line)
{
	const int64_t quarter_ms = 15 * 60 * 1000, most = 14 * 4;
	if (!line->has_time || !line->has_ms)
		return 0;
	int64_t off_ms = l->unix_ms - line->time_unix_ms;
	int64_t zones = (off_ms + (off_ms < 0 ? -quarter_ms : quarter_ms) / 2) / quarter_ms;
	if (zones < -most || zones > most)
		return 0;
	return mono_of(l, (line->time_unix_ms + zones * quarter_ms) * (int64_t)NS_PER_MS);
}

/* Counts a line for its lane; in a shared output, for the rank that it names. */
static void line_take(struct hanglogs *l, struct follow *f, struct span text, uint64_t now_ns)
{
	struct logline line;
	size_t lane = f->lane;
	logline_parse(text, &line);
	if (l->lane[f->lane].rank == NO_RANK && line.rank != NO_RANK && line.rank >= 0) {
		lane = hanglogs_lane(l, line.rank, line.local_rank);
		if (lane == SIZE_MAX)
			return;
	}
	struct lane *a = &l->lane[lane];
	uint64_t steps = a->progress.n_steps, lines = a->progress.n_lines;
	progress_feed(&a->progress, text.p, text.len, now_ns);
	progress_feed(&a->progress, "\n", 1, now_ns);
	a->lines++;
	bool again = f->step_lane == lane && a->progress.n_lines > lines && a->step_ns == now_ns;
	f->step_lane = again ? lane : SIZE_MAX; /* ranks that share an output say the same step, one after the other */
	if (a->progress.n_steps == steps)
		return;
	uint64_t stamp_ns = stamp_of(l, &line);
	a->step_ns = MAX(a->step_ns, stamp_ns ? stamp_ns : now_ns);
	a->step_slack_ns = stamp_ns ? 0 : now_ns - l->before_ns;
	f->step_lane = lane;
}

/* \n and \r both end a line: a progress bar writes only \r. */
static void bytes_take(struct hanglogs *l, struct follow *f, const char *data, size_t len, uint64_t now_ns)
{
	for (size_t i = 0; i < len; i++) {
		if (data[i] == '\n' || data[i] == '\r') {
			if (f->len)
				line_take(l, f, (struct span){f->line, f->len}, now_ns);
			f->len = 0;
		} else if (f->len < sizeof(f->line)) {
			f->line[f->len++] = data[i];
		}
	}
}

/* A progress bar has no line end before it is drawn again: a closing bracket ends it. */
static void bar_take(struct hanglogs *l, struct follow *f, uint64_t now_ns)
{
	struct progress_line p;
	struct span line = {f->line, f->len};
	if (line.len == 0 || line.p[line.len - 1] != ']' || progress_parse(line, NULL, &p) != 0 ||
	    (p.form != PROGRESS_TQDM && p.form != PROGRESS_LIGHTNING))
		return;
	line_take(l, f, line, now_ns);
	f->len = 0;
}

/* True if a rank said in this reading that it is at the step that the last line shows. */
static bool is_level(const struct hanglogs *l, const struct lane *a, const struct lane *last)
{
	const struct progress_line *x = &a->progress.last, *y = &last->progress.last;
	return a->step_slack_ns > 0 && a->step_ns == l->now_ns && x->has_step && y->has_step && x->step == y->step;
}

/*
 * The last line of a file was written at the file's time of modification. Ranks that share it say that they are at the
 * same step right after each other, and which of them is the last is chance: it is the time of all of them.
 */
static void step_time(struct hanglogs *l, const struct follow *f, const struct stat *st)
{
	if (f->step_lane == SIZE_MAX || f->len > 0)
		return;
	const struct lane *last = &l->lane[f->step_lane];
	uint64_t at_ns = mono_of(l, st->st_mtim.tv_sec * (int64_t)NS_PER_S + st->st_mtim.tv_nsec);
	for (size_t i = 0; i < l->n && at_ns > 0; i++) {
		struct lane *a = &l->lane[i];
		bool shares = a == last || (l->lane[f->lane].rank == NO_RANK && is_level(l, a, last));
		if (!shares || a->step_slack_ns == 0 || at_ns + a->step_slack_ns < a->step_ns)
			continue;
		a->step_ns = at_ns;
		a->step_slack_ns = 0;
	}
}

static void file_follow(struct hanglogs *l, const struct world *w, struct follow *f, uint64_t now_ns)
{
	char path[400];
	struct stat st;
	if (f->fd < 0 && f->foreign) {
		written_open(w, f);
	} else if (f->fd < 0) {
		TEXT_FORMAT(path, "%s/%s", l->dir, f->name);
		f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	}
	if (f->fd < 0 || fstat(f->fd, &st) < 0 || (uint64_t)st.st_size <= f->at)
		return;
	uint64_t end = (uint64_t)st.st_size;
	l->lane[f->lane].bytes += end - MIN(MAX(f->at, f->known), end);
	if (end - f->at > READ_MOST) {
		f->at = end - READ_MOST;
		f->len = 0;
	}
	while (f->at < end) {
		size_t got;
		if (file_read_from(f->fd, f->at, l->block, MIN(sizeof(l->block), (size_t)(end - f->at)), &got) < 0 ||
		    got == 0)
			break;
		bytes_take(l, f, l->block, got, now_ns);
		f->at += got;
	}
	bar_take(l, f, now_ns);
	if (f->at == end)
		step_time(l, f, &st);
	f->step_lane = SIZE_MAX;
}

void hanglogs_read(struct hanglogs *l, const struct world *w, uint64_t now_ns, int64_t unix_ms)
{
	l->before_ns = l->now_ns;
	l->now_ns = now_ns;
	l->unix_ms = unix_ms;
	for (size_t i = 0; i < l->n_files; i++)
		file_follow(l, w, &l->file[i], now_ns);
	/* A copy does not grow. */
	for (size_t i = 0; i < l->n_files; i++)
		if (l->file[i].foreign && foreign_is_copy(l->file[i].fd, NULL))
			closep(&l->file[i].fd);
}

/* True if the lane is this rank's; by the number within the node as well, which counts from the least one here. */
static bool is_lane_of(const struct hanglogs *l, const struct lane *a, int32_t rank)
{
	int32_t first = l->n_ranks > 0 ? l->rank[0] : rank;
	for (size_t i = 1; a->local && i < l->n_ranks; i++)
		first = MIN(first, l->rank[i]);
	return a->local ? rank != NO_RANK && a->rank == rank - first : a->rank == rank;
}

/* A file of its own, or lines that name it. */
static const struct lane *lane_of_rank(const struct hanglogs *l, int32_t rank)
{
	const struct lane *local = NULL;
	for (size_t i = 0; i < l->n; i++) {
		if (!is_lane_of(l, &l->lane[i], rank))
			continue;
		if (!l->lane[i].local)
			return &l->lane[i];
		local = &l->lane[i];
	}
	return local;
}

/* Lines that name ranks which the job does not have, as a program without ranks may: the newest of them. */
static const struct lane *nobodys_lane(const struct hanglogs *l)
{
	const struct lane *newest = NULL;
	for (size_t i = 0; i < l->n; i++) {
		const struct lane *a = &l->lane[i];
		bool known = a->rank == NO_RANK || !a->progress.any;
		for (size_t k = 0; k < l->n_ranks && !known; k++)
			known = is_lane_of(l, a, l->rank[k]);
		if (!known && (!newest || a->step_ns > newest->step_ns))
			newest = a;
	}
	return newest;
}

static const struct lane *hanglogs_find(const struct hanglogs *l, int32_t alone, int32_t rank)
{
	return lane_of_rank(l, rank == alone ? NO_RANK : rank);
}

void hanglogs_know(struct hanglogs *l, int32_t rank)
{
	for (size_t i = 0; i < l->n_ranks; i++)
		if (l->rank[i] == rank)
			return;
	if (rank != NO_RANK && l->n_ranks < ARRAY_SIZE(l->rank))
		l->rank[l->n_ranks++] = rank;
}

void hanglogs_fill(const struct hanglogs *l, int32_t alone, struct liveness_counters *seen)
{
	const struct lane *a = hanglogs_find(l, alone, seen->rank);
	if (!a)
		return;
	/* the lines of the only rank, or of a job without ranks, may name one as well */
	const struct lane *named = seen->rank == NO_RANK  ? nobodys_lane(l)
				   : seen->rank == alone ? lane_of_rank(l, alone)
							 : NULL;
	if (a->own_file) {
		seen->has |= 1u << LIVENESS_LOG_BYTES | 1u << LIVENESS_LOG_LINES;
		seen->count[LIVENESS_LOG_BYTES] = a->bytes;
		seen->count[LIVENESS_LOG_LINES] = a->lines + (named ? named->lines : 0);
	}
	a = named && !a->progress.any ? named : a;
	const struct progress *p = &a->progress;
	struct progresscount_found count = {.at_ns = 0};
	if (p->any || !progresscount_read(&p->count, &count))
		count.at_ns = 0;
	seen->has_progress = p->any;
	seen->progress = (struct liveness_progress){
		.has_epoch = p->last.has_epoch,
		.has_step = p->last.has_step,
		.has_total = p->last.has_total,
		.epoch = p->last.epoch,
		.step = p->last.step,
		.total = p->last.total,
		.last_step_ns = p->has_step_time ? a->step_ns : 0,
		.last_step_slack_ns = a->step_slack_ns,
		.n_lines = p->n_lines,
		.epoch_ended = p->epoch_ended,
		.loss_broken = p->loss.found,
		.loss_infinite = p->loss.infinite,
		.loss_has_step = p->loss.has_step,
		.loss_broken_step = p->loss.step,
		.norm_broken = p->norm.found && !p->loss.found,
		.norm_broken_step = p->norm.step,
		.count_ns = count.at_ns,
		.count_gap_ns = count.gap_ns,
	};
}

uint64_t hanglogs_bytes(const struct hanglogs *l, int32_t alone, int32_t rank)
{
	const struct lane *a = hanglogs_find(l, alone, rank);
	return a && a->own_file ? a->bytes : 0;
}
