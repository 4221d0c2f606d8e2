#include "agent/hanglogs.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/progress.h"

#define LOOK_MOST (128 * KIB)
#define LINE_MOST 2048
#define LANES (HANG_RANKS + 1)

/* What one rank printed, through whichever file. */
struct lane {
	int32_t rank;
	bool own_file; /* bytes and lines are counted */
	uint64_t bytes, lines;
	struct progress progress;
};

struct follow {
	int fd; /* -1: not there yet */
	char name[40];
	bool foreign; /* name is a path, of a file that vigil does not keep */
	size_t lane;
	uint64_t at, known; /* known: what was there before we looked, and is not counted */
	char line[LINE_MOST]; /* not ended yet */
	size_t len;
};

struct hanglogs {
	const struct progress_patterns *user; /* borrowed; may be NULL */
	char dir[320];
	struct lane lane[LANES];
	size_t n;
	struct follow file[2 * HANG_RANKS];
	size_t n_files;
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
static size_t lane_of(struct hanglogs *l, int32_t rank)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->lane[i].rank == rank)
			return i;
	if (l->n == LANES)
		return SIZE_MAX;
	l->lane[l->n] = (struct lane){.rank = rank};
	progress_init(&l->lane[l->n].progress, l->user);
	return l->n++;
}

void hanglogs_begin(struct hanglogs *l, const char *dir, const int32_t *ranks, size_t n)
{
	static const char *const ends[] = {"out", "err"};
	const int32_t alone = NO_RANK;
	close_all(l);
	l->n = 0;
	TEXT_COPY(l->dir, dir);
	if (n == 0) {
		ranks = &alone;
		n = 1;
	}
	for (size_t i = 0; dir[0] && i < MIN(n, (size_t)HANG_RANKS); i++) {
		size_t lane = lane_of(l, ranks[i]);
		l->lane[lane].own_file = true;
		for (size_t k = 0; k < ARRAY_SIZE(ends); k++) {
			struct follow *f = &l->file[l->n_files++];
			*f = (struct follow){.fd = -1, .lane = lane};
			TEXT_FORMAT(f->name, "rank-%d.%s", MAX(ranks[i], 0), ends[k]);
		}
	}
}

void hanglogs_follow(struct hanglogs *l, const char *path)
{
	size_t lane = path[0] && l->n_files < ARRAY_SIZE(l->file) ? lane_of(l, NO_RANK) : SIZE_MAX;
	if (lane == SIZE_MAX)
		return;
	struct follow *f = &l->file[l->n_files++];
	l->lane[lane].own_file = true;
	*f = (struct follow){.fd = -1, .lane = lane, .foreign = true};
	TEXT_COPY(f->name, path);
}

/* What it holds by now is read from its end, and is nothing that was written while we looked. */
static void foreign_open(struct follow *f)
{
	struct stat st;
	f->fd = open(f->name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (f->fd < 0)
		return;
	if (fstat(f->fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		closep(&f->fd);
		f->fd = -1;
		return;
	}
	f->known = (uint64_t)st.st_size;
	f->at = sub_floor(f->known, LOOK_MOST);
}

/* Lines of another rank go to that rank; a launcher's output is nobody's progress. */
static void line_take(struct hanglogs *l, const struct follow *f, struct span text, uint64_t now_ns)
{
	struct logline line;
	size_t lane = f->lane;
	logline_parse(text, &line);
	if (l->lane[f->lane].rank == NO_RANK && line.rank != NO_RANK && line.rank >= 0) {
		lane = lane_of(l, line.rank);
		if (lane == SIZE_MAX)
			return;
	}
	struct lane *a = &l->lane[lane];
	progress_feed(&a->progress, text.p, text.len, now_ns);
	progress_feed(&a->progress, "\n", 1, now_ns);
	a->lines++;
}

/* Both ends of a line count: a progress bar writes only \r. */
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

static void file_look(struct hanglogs *l, struct follow *f, uint64_t now_ns)
{
	char path[400];
	struct stat st;
	if (f->fd < 0 && f->foreign) {
		foreign_open(f);
	} else if (f->fd < 0) {
		TEXT_FORMAT(path, "%s/%s", l->dir, f->name);
		f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	}
	if (f->fd < 0 || fstat(f->fd, &st) < 0 || (uint64_t)st.st_size <= f->at)
		return;
	uint64_t end = (uint64_t)st.st_size;
	l->lane[f->lane].bytes += end - MIN(MAX(f->at, f->known), end);
	if (end - f->at > LOOK_MOST) {
		f->at = end - LOOK_MOST;
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
}

void hanglogs_look(struct hanglogs *l, uint64_t now_ns)
{
	for (size_t i = 0; i < l->n_files; i++)
		file_look(l, &l->file[i], now_ns);
}

static const struct lane *find(const struct hanglogs *l, int32_t alone, int32_t rank)
{
	if (rank != NO_RANK && rank == alone)
		rank = NO_RANK;
	for (size_t i = 0; i < l->n; i++)
		if (l->lane[i].rank == rank)
			return &l->lane[i];
	return NULL;
}

void hanglogs_fill(const struct hanglogs *l, int32_t alone, struct pulse_seen *seen)
{
	const struct lane *a = find(l, alone, seen->rank);
	if (!a)
		return;
	if (a->own_file) {
		seen->has |= 1u << PULSE_LOG_BYTES | 1u << PULSE_LOG_LINES;
		seen->count[PULSE_LOG_BYTES] = a->bytes;
		seen->count[PULSE_LOG_LINES] = a->lines;
	}
	const struct progress *p = &a->progress;
	if (!p->any)
		return;
	seen->has_progress = true;
	seen->progress = (struct pulse_progress){
		.has_epoch = p->last.has_epoch,
		.has_step = p->last.has_step,
		.has_total = p->last.has_total,
		.epoch = p->last.epoch,
		.step = p->last.step,
		.total = p->last.total,
		.last_step_ns = p->has_step_time ? p->last_step_ns : 0,
		.n_lines = p->n_lines,
		.epoch_ended = p->epoch_ended,
		.loss_broken = p->loss_broken,
		.loss_broken_step = p->loss_broken_step,
	};
}

uint64_t hanglogs_bytes(const struct hanglogs *l, int32_t alone, int32_t rank)
{
	const struct lane *a = find(l, alone, rank);
	return a && a->own_file ? a->bytes : 0;
}
