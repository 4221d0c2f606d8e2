#include "agent/map/mapinputs.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/foreign.h"
#include "base/vec.h"

#define READ_BYTES (64 * KIB)
#define INPUT_MAX (128 * KIB) /* what the kernel allows for one argument */
#define SOURCE_MAX (4 * GIB)

struct list {
	char **item; /* into text, or borrowed */
	size_t n, cap;
	char *text; /* owned */
};

struct mapinputs {
	const struct map_spec *spec;
	struct list list[MAP_SOURCES];
	size_t n_lists;
	uint64_t next, total; /* combinations, where everything was read */
	uint64_t *order; /* shuffled; NULL: as they come */
	bool streamed, uses_stdin;
	int fd; /* of the stream */
	bool over;
	char *text; /* read of it and not yet given out */
	size_t from, len, cap;
	uint64_t given;
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
	*ret = open(path, O_RDONLY | O_CLOEXEC);
	if (*ret < 0)
		return fault_set(f, -errno, "cannot read inputs from %s: %s", path, strerror(errno));
	struct stat st;
	if (fstat(*ret, &st) == 0 && S_ISDIR(st.st_mode)) {
		closep(ret);
		return fault_set(f, -EISDIR,
				 "cannot read inputs from %s: it is a folder; a file with one input a line was "
				 "expected",
				 path);
	}
	return 0;
}

static int mapinputs_list(struct mapinputs *in, struct list *l, const char *path, struct fault *f)
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

static int list_items(struct mapinputs *in, struct list *l, const struct map_source *s, struct fault *f)
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
		int r = split(l, at, n, in->spec->delimiter, ":::", f);
		if (r < 0)
			return r;
		at += n + 1;
	}
	return 0;
}

static int lists_fill(struct mapinputs *in, struct fault *f)
{
	const struct map_spec *spec = in->spec;
	in->total = 1;
	for (size_t i = 0; i < spec->n_sources; i++) {
		const struct map_source *s = &spec->source[i];
		struct list *l = &in->list[in->n_lists++];
		int r = s->path ? mapinputs_list(in, l, s->path, f) : list_items(in, l, s, f);
		if (r < 0)
			return r;
		if (__builtin_mul_overflow(in->total, l->n, &in->total))
			return fault_set(f, -E2BIG, "too many combinations of inputs");
	}
	if (spec->per_task)
		in->total = (in->total + spec->per_task - 1) / spec->per_task;
	return 0;
}

static int shuffle(struct mapinputs *in, struct fault *f)
{
	if (in->total == 0)
		return 0;
	in->order = in->total < SIZE_MAX / sizeof(uint64_t) ? malloc(in->total * sizeof(uint64_t)) : NULL;
	if (!in->order)
		return fault_set(f, -ENOMEM, "no memory to shuffle the inputs");
	for (uint64_t i = 0; i < in->total; i++)
		in->order[i] = i;
	for (uint64_t i = in->total - 1; i > 0; i--) {
		uint64_t k;
		if (getrandom(&k, sizeof(k), 0) != (ssize_t)sizeof(k))
			return fault_set(f, -EIO, "no random numbers to shuffle by");
		k %= i + 1;
		uint64_t other = in->order[k];
		in->order[k] = in->order[i];
		in->order[i] = other;
	}
	return 0;
}

int mapinputs_open(const struct map_spec *spec, bool whole, struct mapinputs **ret, struct fault *f)
{
	cleanup(mapinputs_closep) struct mapinputs *in = calloc(1, sizeof(*in));
	if (!in)
		return fault_set(f, -ENOMEM, "no memory for the inputs");
	in->spec = spec;
	in->fd = -1;
	for (size_t i = 0; i < spec->n_sources; i++)
		in->uses_stdin |= spec->source[i].path && strcmp(spec->source[i].path, "-") == 0;
	in->streamed = spec->n_sources == 1 && spec->source[0].path && !whole && !spec->shuffle;
	int r = in->streamed ? source_open(spec->source[0].path, &in->fd, f) : lists_fill(in, f);
	if (r == 0 && spec->shuffle)
		r = shuffle(in, f);
	if (r == 0)
		*ret = take(&in);
	return r;
}

struct mapinputs *mapinputs_close(struct mapinputs *in)
{
	if (!in)
		return NULL;
	for (size_t i = 0; in->streamed && i < in->list[0].n; i++)
		free(in->list[0].item[i]);
	for (size_t i = 0; i < MAX(in->n_lists, 1); i++) {
		free(in->list[i].item);
		free(in->list[i].text);
	}
	closep(&in->fd);
	free(in->order);
	free(in->text);
	free(in);
	return NULL;
}

/* ---- the stream ---- */

/* More bytes, if there are any without waiting. MAPINPUTS_LATER, MAPINPUTS_END. */
static int stream_more(struct mapinputs *in)
{
	struct pollfd p = {.fd = in->fd, .events = POLLIN};
	if (in->over)
		return MAPINPUTS_END;
	if (poll(&p, 1, 0) == 0)
		return MAPINPUTS_LATER;
	if (in->from > 0) {
		memmove(in->text, in->text + in->from, in->len - in->from);
		in->len -= in->from;
		in->from = 0;
	}
	if (vec_room(&in->text, &in->cap, in->len + READ_BYTES + 1) < 0)
		return -ENOMEM;
	ssize_t n = read(in->fd, in->text + in->len, READ_BYTES);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? MAPINPUTS_LATER : -errno;
	in->len += (size_t)n;
	in->over = n == 0;
	return 0;
}

/* The next input of the stream, inside of its text: valid until the next call. */
static int stream_next(struct mapinputs *in, char **ret, size_t *ret_len, struct fault *f)
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
		if (r == MAPINPUTS_LATER || (r == MAPINPUTS_END && have == 0))
			return r;
	}
}

/* ---- tasks ---- */

static int args_make(const char *const *item, const size_t *len, size_t n, struct map_args *ret, struct fault *f)
{
	size_t bytes = (n + 1) * sizeof(char *);
	for (size_t i = 0; i < n; i++)
		bytes += len[i] + 1;
	char **arg = malloc(bytes);
	if (!arg)
		return fault_set(f, -ENOMEM, "no memory for the inputs");
	char *at = (char *)(arg + n + 1);
	for (size_t i = 0; i < n; i++) {
		arg[i] = memcpy(at, item[i], len[i]);
		at[len[i]] = '\0';
		at += len[i] + 1;
	}
	arg[n] = NULL;
	*ret = (struct map_args){arg, n};
	return 0;
}

/* Copies of the inputs from first on, which count over all combinations. */
static int combination(struct mapinputs *in, uint64_t first, uint64_t n, struct map_args *ret, struct fault *f)
{
	size_t most = (size_t)n * in->n_lists;
	cleanup(freep) const char **item = calloc(most + 1, sizeof(*item));
	cleanup(freep) size_t *len = calloc(most + 1, sizeof(*len));
	if (!item || !len)
		return fault_set(f, -ENOMEM, "no memory for the inputs");
	for (uint64_t k = 0; k < n; k++) {
		uint64_t rest = first + k;
		for (size_t i = in->n_lists; i-- > 0; rest /= in->list[i].n) {
			size_t at = (size_t)k * in->n_lists + i;
			item[at] = in->list[i].item[rest % in->list[i].n];
			len[at] = strlen(item[at]);
		}
	}
	return args_make(item, len, most, ret, f);
}

static int listed_next(struct mapinputs *in, struct map_args *ret, struct fault *f)
{
	if (in->next == in->total)
		return MAPINPUTS_END;
	uint64_t at = in->order ? in->order[in->next] : in->next, n = 1;
	in->next++;
	if (in->spec->per_task) {
		uint64_t all = 1;
		for (size_t i = 0; i < in->n_lists; i++)
			all *= in->list[i].n;
		at *= in->spec->per_task;
		n = MIN(in->spec->per_task, all - at);
	}
	return combination(in, at, n, ret, f);
}

/* Gathers the inputs of a task: those that are here are kept until the rest has come. */
static int streamed_next(struct mapinputs *in, struct map_args *ret, struct fault *f)
{
	struct list *l = &in->list[0];
	size_t want = MAX(in->spec->per_task, 1);
	int r = 0;
	while (l->n < want) {
		char *start = NULL;
		size_t len = 0;
		r = stream_next(in, &start, &len, f);
		if (r != 0)
			break;
		if (vec_room(&l->item, &l->cap, l->n + 1) < 0 || !(l->item[l->n] = strndup(start, len)))
			return fault_set(f, -ENOMEM, "no memory for the inputs");
		l->n++;
	}
	if (r < 0 || r == MAPINPUTS_LATER || l->n == 0)
		return r;
	cleanup(freep) size_t *lens = calloc(l->n, sizeof(*lens));
	if (!lens)
		return fault_set(f, -ENOMEM, "no memory for the inputs");
	for (size_t i = 0; i < l->n; i++)
		lens[i] = strlen(l->item[i]);
	r = args_make((const char *const *)l->item, lens, l->n, ret, f);
	for (size_t i = 0; i < l->n; i++)
		free(l->item[i]);
	l->n = 0;
	return r;
}

int mapinputs_next(struct mapinputs *in, struct map_args *ret, struct fault *f)
{
	return in->streamed ? streamed_next(in, ret, f) : listed_next(in, ret, f);
}

int mapinputs_fd(const struct mapinputs *in)
{
	return in->fd;
}

bool mapinputs_use_stdin(const struct mapinputs *in)
{
	return in->uses_stdin;
}

uint64_t mapinputs_total(const struct mapinputs *in)
{
	return in->streamed ? 0 : in->total;
}

void mapinputs_rewind(struct mapinputs *in)
{
	in->next = 0;
}

void map_args_done(struct map_args *a)
{
	free(a->arg);
	*a = (struct map_args){NULL, 0};
}
