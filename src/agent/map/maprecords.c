#include "agent/map/maprecords.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "agent/map/mapcolumns.h"
#include "base/file.h"
#include "base/foreign_path.h"
#include "base/foreign.h"
#include "base/vec.h"

#define READ_BYTES (64 * KIB)
#define INPUT_MAX (128 * KIB) /* what the kernel allows for one argument */
#define SOURCE_MAX (4 * GIB)

struct list {
	char **item; /* into text, or borrowed */
	size_t n, cap;
	char *text; /* owned */
	size_t group; /* of sources that change together */
};

struct maprecords {
	const struct map_spec *spec;
	struct mapcolumns columns;
	bool has_columns;
	struct list list[MAP_SOURCES];
	size_t n_lists;
	uint64_t group_n[MAP_SOURCES]; /* records that each group has */
	size_t n_groups;
	uint64_t next, total; /* records, where everything was read */
	uint64_t *order; /* shuffled; NULL: as they come */
	bool streamed, uses_stdin;
	int fd; /* of the stream */
	bool over;
	char *text; /* read of it and not yet given out */
	size_t from, len, cap;
	uint64_t given;
	struct span *part; /* inputs of the record at hand */
	size_t n_parts, parts_cap;
};

static int too_long(const char *path, uint64_t number, struct fault *f)
{
	return fault_set(
		f, -E2BIG,
		"%s: input %llu is longer than %llu KiB, which no program can be given; is the delimiter right (-d, "
		"-0)?",
		path, (unsigned long long)number, (unsigned long long)(INPUT_MAX / KIB));
}

static int has_nul(const char *path, uint64_t number, struct fault *f)
{
	return fault_set(
		f, -EINVAL,
		"%s: input %llu has a NUL byte in it, which no argument can have; for inputs that are ended by NUL "
		"add -0",
		path, (unsigned long long)number);
}

/* Ends each input of text with a NUL and puts it into the list. */
static int split(struct list *l, char *text, size_t len, char delimiter, const char *path, struct fault *f)
{
	for (size_t at = 0; at < len;) {
		char *end = memchr(text + at, delimiter, len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		if (n > INPUT_MAX - 1)
			return too_long(path, l->n + 1, f);
		if (delimiter != '\0' && memchr(text + at, '\0', n))
			return has_nul(path, l->n + 1, f);
		text[at + n] = '\0'; /* the text has room for one more */
		if (vec_room(&l->item, &l->cap, l->n + 1) < 0)
			return fault_set(f, -ENOMEM, "no memory for the inputs");
		l->item[l->n++] = text + at;
		at += n + 1;
	}
	return 0;
}

static int source_open(const char *path, int *ret, struct fault *f)
{
	if (strcmp(path, "-") == 0) {
		*ret = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
		return *ret < 0 ? fault_set(f, -errno, "stdin cannot be read: %s", strerror(errno)) : 0;
	}
	struct stat st;
	const int r = foreign_path_input(path, 0, ret);
	if (r != 0)
		return fault_set(f, r < 0 ? r : -EINVAL, "cannot read inputs from %s: %s", path, foreign_path_why(r));
	if (fstat(*ret, &st) == 0 && S_ISDIR(st.st_mode)) {
		closep(ret);
		return fault_set(f, -EISDIR,
				 "cannot read inputs from %s: it is a folder; a file with one input a line was "
				 "expected",
				 path);
	}
	return 0;
}

static int maprecords_list(struct maprecords *in, struct list *l, const char *path, struct fault *f)
{
	cleanup(closep) int fd = -1;
	size_t len = 0;
	int r = source_open(path, &fd, f);
	if (r < 0)
		return r;
	r = file_slurp_fd(fd, SOURCE_MAX, &l->text, &len);
	if (r < 0)
		return fault_set(f, r, "cannot read inputs from %s: %s", path, strerror(-r));
	return split(l, l->text, len, in->spec->delimiter, path, f);
}

/* In a word of the command line, nothing stands behind a delimiter at its end, which is an input as well. */
static int empty_add(struct list *l, char *at, struct fault *f)
{
	*at = '\0';
	if (vec_room(&l->item, &l->cap, l->n + 1) < 0)
		return fault_set(f, -ENOMEM, "no memory for the inputs");
	l->item[l->n++] = at;
	return 0;
}

static int list_items(struct maprecords *in, struct list *l, const struct map_source *s, struct fault *f)
{
	if (vec_room(&l->item, &l->cap, s->n + 1) < 0)
		return fault_set(f, -ENOMEM, "no memory for the inputs");
	if (!in->spec->split_items) {
		memcpy(l->item, s->item, s->n * sizeof(*l->item));
		l->n = s->n;
		return 0;
	}
	size_t len = 0;
	for (size_t i = 0; i < s->n; i++)
		len += strlen(s->item[i]) + 1;
	l->text = malloc(len + 1);
	if (!l->text)
		return fault_set(f, -ENOMEM, "no memory for the inputs");
	char *at = l->text;
	for (size_t i = 0; i < s->n; i++) {
		size_t n = strlen(s->item[i]);
		memcpy(at, s->item[i], n);
		bool ends_empty = n == 0 || at[n - 1] == in->spec->delimiter;
		int r = split(l, at, n, in->spec->delimiter, ":::", f);
		if (r == 0 && ends_empty)
			r = empty_add(l, at + n, f);
		if (r < 0)
			return r;
		at += n + 1;
	}
	return 0;
}

/* The sizes of groups, and of all: with --link the longest source of a group counts, else the shortest. */
static int groups_count(struct maprecords *in, struct fault *f)
{
	for (size_t i = 0; i < in->n_lists; i++) {
		uint64_t *n = &in->group_n[in->list[i].group], have = in->list[i].n;
		bool first = i == 0 || in->list[i].group != in->list[i - 1].group;
		*n = first || (in->spec->link ? have > *n : have < *n) ? have : *n;
	}
	for (size_t i = 0; in->spec->link && i < in->n_lists; i++)
		if (in->list[i].n == 0)
			in->group_n[in->list[i].group] = 0; /* nothing goes beside it */
	in->total = 1;
	for (size_t i = 0; i < in->n_groups; i++)
		if (__builtin_mul_overflow(in->total, in->group_n[i], &in->total))
			return fault_set(f, -E2BIG, "too many combinations of inputs");
	return 0;
}

static int lists_fill(struct maprecords *in, struct fault *f)
{
	const struct map_spec *spec = in->spec;
	for (size_t i = 0; i < spec->n_sources; i++) {
		const struct map_source *s = &spec->source[i];
		struct list *l = &in->list[in->n_lists++];
		in->n_groups += !s->linked || i == 0;
		l->group = in->n_groups - 1;
		int r = s->path ? maprecords_list(in, l, s->path, f) : list_items(in, l, s, f);
		if (r < 0)
			return r;
	}
	return groups_count(in, f);
}

static int random_below(uint64_t n, uint64_t *ret, struct fault *f)
{
	if (getrandom(ret, sizeof(*ret), 0) != (ssize_t)sizeof(*ret))
		return fault_set(f, -EIO, "no random numbers to shuffle by");
	*ret %= n;
	return 0;
}

/* Shuffles what is for one task (-N) as a whole; a last one that is shorter stays the last. */
static int shuffle(struct maprecords *in, struct fault *f)
{
	const uint64_t per = MAX(in->spec->per_task, 1U), whole = in->total / per;
	if (in->total == 0)
		return 0;
	in->order = in->total < SIZE_MAX / sizeof(uint64_t) ? malloc(in->total * sizeof(uint64_t)) : NULL;
	if (!in->order)
		return fault_set(f, -ENOMEM, "no memory to shuffle the inputs");
	for (uint64_t i = 0; i < in->total; i++)
		in->order[i] = i;
	for (uint64_t i = whole; i-- > 1;) {
		uint64_t k;
		int r = random_below(i + 1, &k, f);
		if (r < 0)
			return r;
		for (uint64_t j = 0; j < per; j++) {
			uint64_t other = in->order[k * per + j];
			in->order[k * per + j] = in->order[i * per + j];
			in->order[i * per + j] = other;
		}
	}
	return 0;
}

static int maprecords_fill(struct maprecords *in, bool whole, struct fault *f)
{
	const struct map_spec *spec = in->spec;
	int r = spec->columns ? mapcolumns_init(&in->columns, spec->columns, f) : 0;
	if (r < 0)
		return r;
	in->has_columns = spec->columns != NULL;
	in->streamed = spec->n_sources == 1 && spec->source[0].path && !whole && !spec->shuffle;
	r = in->streamed ? source_open(spec->source[0].path, &in->fd, f) : lists_fill(in, f);
	return r == 0 && spec->shuffle ? shuffle(in, f) : r;
}

int maprecords_open(const struct map_spec *spec, bool whole, struct maprecords **ret, struct fault *f)
{
	cleanup(maprecords_closep) struct maprecords *in = calloc(1, sizeof(*in));
	if (!in)
		return fault_set(f, -ENOMEM, "no memory for the inputs");
	in->spec = spec;
	in->fd = -1;
	for (size_t i = 0; i < spec->n_sources; i++)
		in->uses_stdin |= spec->source[i].path && strcmp(spec->source[i].path, "-") == 0;
	int r = maprecords_fill(in, whole, f);
	if (r == 0)
		*ret = take(&in);
	return r;
}

struct maprecords *maprecords_close(struct maprecords *in)
{
	if (!in)
		return NULL;
	if (in->has_columns)
		mapcolumns_done(&in->columns);
	for (size_t i = 0; i < in->n_lists; i++) {
		free(in->list[i].item);
		free(in->list[i].text);
	}
	closep(&in->fd);
	free(in->order);
	free(in->text);
	free(in->part);
	free(in);
	return NULL;
}

/* ---- the stream ---- */

/* More bytes, if there are any without waiting. MAPRECORDS_LATER, MAPRECORDS_END. */
static int stream_more(struct maprecords *in)
{
	struct pollfd p = {.fd = in->fd, .events = POLLIN};
	if (in->over)
		return MAPRECORDS_END;
	if (poll(&p, 1, 0) == 0)
		return MAPRECORDS_LATER;
	if (in->from > 0) {
		memmove(in->text, in->text + in->from, in->len - in->from);
		in->len -= in->from;
		in->from = 0;
	}
	if (vec_room(&in->text, &in->cap, in->len + READ_BYTES + 1) < 0)
		return -ENOMEM;
	ssize_t n = read(in->fd, in->text + in->len, READ_BYTES);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? MAPRECORDS_LATER : -errno;
	in->len += (size_t)n;
	in->over = n == 0;
	return 0;
}

/* The next input of the stream, inside of its text: valid until the next call. */
static int stream_next(struct maprecords *in, char **ret, size_t *ret_len, struct fault *f)
{
	const char *path = in->spec->source[0].path;
	for (size_t seen = 0;;) {
		size_t have = in->len - in->from;
		char *start = in->text + in->from;
		char *end = have > seen ? memchr(start + seen, in->spec->delimiter, have - seen) : NULL;
		size_t n = end ? (size_t)(end - start) : have;
		if (n > INPUT_MAX - 1)
			return too_long(path, in->given + 1, f);
		if (end || (in->over && have > 0)) {
			if (in->spec->delimiter != '\0' && memchr(start, '\0', n))
				return has_nul(path, in->given + 1, f);
			in->from += n + (end ? 1 : 0);
			in->given++;
			*ret = start;
			*ret_len = n;
			return 0;
		}
		seen = have;
		int r = stream_more(in);
		if (r < 0)
			return fault_set(f, r, "cannot read inputs from %s: %s", path, strerror(-r));
		if (r == MAPRECORDS_LATER || (r == MAPRECORDS_END && have == 0))
			return r;
	}
}

/* ---- records ---- */

static int record_part(struct maprecords *in, struct span text)
{
	if (vec_room(&in->part, &in->parts_cap, in->n_parts + 1) < 0)
		return -ENOMEM;
	in->part[in->n_parts++] = text;
	return 0;
}

/* What a source gives: an input, or several columns. */
static int record_add(struct maprecords *in, struct span text)
{
	struct span column;
	int r = 0;
	if (!in->has_columns)
		return record_part(in, text);
	while (r == 0 && mapcolumns_next(&in->columns, &text, &column))
		r = record_part(in, column);
	return r;
}

/* A copy of the record at hand. */
static int record_copy(const struct maprecords *in, struct map_args *ret)
{
	size_t bytes = (in->n_parts + 1) * sizeof(char *);
	for (size_t i = 0; i < in->n_parts; i++)
		bytes += in->part[i].len + 1;
	char **arg = malloc(bytes);
	if (!arg)
		return -ENOMEM;
	char *at = (char *)(arg + in->n_parts + 1);
	for (size_t i = 0; i < in->n_parts; i++) {
		size_t len = in->part[i].len;
		arg[i] = memcpy(at, in->part[i].p, len);
		at[len] = '\0';
		at += len + 1;
	}
	arg[in->n_parts] = NULL;
	*ret = (struct map_args){.arg = arg, .n = in->n_parts};
	return 0;
}

/* The combination of this number. */
static int combination_add(struct maprecords *in, uint64_t number)
{
	uint64_t at[MAP_SOURCES];
	int r = 0;
	for (size_t g = in->n_groups; g-- > 0; number /= in->group_n[g])
		at[g] = number % in->group_n[g];
	for (size_t i = 0; r == 0 && i < in->n_lists; i++) {
		const struct list *l = &in->list[i];
		r = record_add(in, span_of(l->item[at[l->group] % l->n]));
	}
	return r;
}

static int record_next(struct maprecords *in, struct fault *f)
{
	char *start = NULL;
	size_t len = 0;
	if (!in->streamed) {
		if (in->next == in->total)
			return MAPRECORDS_END;
		uint64_t number = in->order ? in->order[in->next] : in->next;
		in->next++;
		return combination_add(in, number);
	}
	int r = stream_next(in, &start, &len, f);
	return r == 0 ? record_add(in, (struct span){start, len}) : r;
}

int maprecords_next(struct maprecords *in, struct map_args *ret, struct fault *f)
{
	in->n_parts = 0;
	int r = record_next(in, f);
	if (r == 0)
		r = record_copy(in, ret);
	return r == -ENOMEM ? fault_set(f, r, "no memory for the inputs") : r;
}

int maprecords_fd(const struct maprecords *in)
{
	return in->fd;
}

bool maprecords_use_stdin(const struct maprecords *in)
{
	return in->uses_stdin;
}

uint64_t maprecords_total(const struct maprecords *in)
{
	return in->streamed ? 0 : in->total;
}

void maprecords_rewind(struct maprecords *in)
{
	in->next = 0;
}

void map_args_done(struct map_args *a)
{
	free(a->arg);
	if (a->piped)
		closep(&a->in_fd);
	*a = (struct map_args){.arg = NULL};
}
