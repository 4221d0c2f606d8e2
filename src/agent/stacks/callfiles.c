#include "agent/stacks/callfiles.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/foreign.h"
#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "base/vec.h"
#include "sense/rank.h"

/* A program with 100,000 functions writes about 20 MiB. */
#define PROFILE_MAX (256 * MIB)
#define NOTE_MAX ((size_t)64 * 1024)

static int source_add(struct call_sources *s, const struct call_source *one)
{
	if (vec_room(&s->items, &s->cap, s->n + 1) < 0)
		return -ENOMEM;
	s->items[s->n++] = *one;
	return 0;
}

static bool number_after(struct span s, const char *key, int64_t *ret)
{
	struct span rest = span_after(s, key);
	return rest.p && span_i64(span_before(rest, "."), ret) == 0;
}

/* "rank-3.pid-812.start-1700000000000.prof" */
static void callfiles_name_parse(const char *name, struct call_source *s)
{
	int64_t n;
	struct span all = span_of(name);
	if (!span_starts(all, "rank-"))
		return;
	if (number_after(all, "rank-", &n) && n >= 0 && n <= INT32_MAX)
		s->rank = (int32_t)n;
	if (number_after(all, ".pid-", &n) && n > 0 && n <= INT32_MAX)
		s->pid = (pid_t)n;
	if (number_after(all, ".start-", &n) && n > 0)
		s->started_unix_ms = n;
}

static void command_join(const struct js *argv, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	for (size_t i = 0; i < MIN(js_len(argv), (size_t)64); i++)
		buf_printf(&b, "%s%s", i ? " " : "", js_as_text(js_at(argv, i), "?"));
}

/*
 * Reads what the plugin wrote beside the profile (".json", ".begun"). Without a readable note the facts of the file
 * name stay.
 */
static void note_read(struct call_source *s, const char *suffix)
{
	char path[sizeof(s->path)], text[NOTE_MAX];
	size_t len, stem = strlen(s->path) - strlen(".prof");
	cleanup(js_freep) struct js *j = NULL;
	TEXT_FORMAT(path, "%.*s%s", (int)stem, s->path, suffix);
	cleanup(closep) int fd = -1;
	if (foreign_open_kept(path, &fd) != 0 || file_read_fd(fd, text, sizeof(text), &len) < 0 ||
	    js_parse(text, len, &j, NULL) < 0)
		return;
	s->has_note = true;
	s->rank = (int32_t)js_get_i64(j, "rank", s->rank);
	s->pid = (pid_t)js_get_i64(j, "pid", s->pid);
	s->complete = js_get_bool(j, "complete", false);
	s->threads_mixed = js_get_bool(j, "threads_mixed", false);
	TEXT_COPY(s->role, js_get_text(j, "role", ""));
	TEXT_COPY(s->process, js_get_text(j, "process", ""));
	TEXT_COPY(s->python, js_get_text(j, "python", ""));
	TEXT_COPY(s->aside, js_get_text(j, "aside", ""));
	command_join(js_get(j, "argv"), s->command, sizeof(s->command));
}

static bool callfiles_ends_with(const char *name, const char *suffix)
{
	size_t n = strlen(name), k = strlen(suffix);
	return n > k && strcmp(name + n - k, suffix) == 0;
}

static bool callfiles_exists(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0;
}

static int profile_add(struct call_sources *s, const char *path, bool typed)
{
	struct call_source one = {.rank = NO_RANK, .has_profile = true, .typed = typed};
	if (strlen(path) >= sizeof(one.path))
		return -ENAMETOOLONG;
	TEXT_COPY(one.path, path);
	callfiles_name_parse(path_name(path), &one);
	if (callfiles_ends_with(path, ".prof"))
		note_read(&one, ".json");
	return source_add(s, &one);
}

int callfiles_add_file(struct call_sources *s, const char *path)
{
	return profile_add(s, path, true);
}

/* Adds a note that has no profile: its process had a reason to leave none, or ended before it could. */
static int note_add(struct call_sources *s, const char *path, const char *suffix)
{
	struct call_source one = {.rank = NO_RANK};
	TEXT_FORMAT(one.path, "%.*s.prof", (int)(strlen(path) - strlen(suffix)), path);
	if (callfiles_exists(one.path))
		return 0;
	callfiles_name_parse(path_name(path), &one);
	note_read(&one, suffix);
	return one.has_note ? source_add(s, &one) : 0;
}

int callfiles_add_dir(struct call_sources *s, const char *dir)
{
	DIR *d = opendir(dir);
	if (!d)
		return -errno;
	int r = 0;
	for (struct dirent *e; r == 0 && (e = readdir(d));) {
		char path[sizeof(s->items->path)];
		if (e->d_name[0] == '.' ||
		    text_format(path, sizeof(path), "%s/%s", dir, e->d_name) >= (int)sizeof(path))
			continue;
		if (callfiles_ends_with(e->d_name, ".prof"))
			r = profile_add(s, path, false);
		else if (callfiles_ends_with(e->d_name, ".json"))
			r = note_add(s, path, ".json");
		else if (callfiles_ends_with(e->d_name, ".begun"))
			r = note_add(s, path, ".begun");
	}
	closedir(d);
	return r;
}

static int callfiles_compare(const void *a, const void *b)
{
	const struct call_source *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->started_unix_ms != y->started_unix_ms)
		return x->started_unix_ms < y->started_unix_ms ? -1 : 1;
	return x->pid != y->pid ? (x->pid < y->pid ? -1 : 1) : strcmp(x->path, y->path);
}

void callfiles_sort(struct call_sources *s)
{
	if (s->n)
		qsort(s->items, s->n, sizeof(*s->items), callfiles_compare);
}

/* Reads the whole file into a buffer that is reused and grows from file to file. */
static int slurp(const struct call_source *s, char **text, size_t *cap, size_t *ret_len)
{
	struct stat st;
	cleanup(closep) int fd = -1;
	const struct foreign_place at = {.dirfd = AT_FDCWD, .flags = FOREIGN_LINKS | FOREIGN_TYPED};
	int r = s->typed ? foreign_open(&at, s->path, &fd) : foreign_open_kept(s->path, &fd);
	if (r)
		return r < 0 ? r : -EINVAL;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size > (off_t)PROFILE_MAX)
		return -EFBIG;
	if ((size_t)st.st_size > *cap || !*text) {
		free(*text);
		*cap = (size_t)st.st_size + (size_t)st.st_size / 4 + 4096;
		*text = malloc(*cap);
		if (!*text)
			return -ENOMEM;
	}
	return file_read_from(fd, 0, *text, (size_t)st.st_size, ret_len);
}

static int ignore_function(void *ctx, const struct pstats_key *key, const struct pstats_number *n)
{
	(void)ctx;
	(void)key;
	(void)n;
	return 0;
}

/*
 * CALLFILES_NOTHING: the file cannot be read, and s->fault says why. With check the file is parsed twice, and a damaged
 * one adds nothing to c.
 */
static int source_read(struct call_source *s, struct calls *c, bool check, char **text, size_t *cap)
{
	static const struct pstats_sink nothing = {.function = ignore_function, .edge = ignore_function};
	struct fault f = {.text = ""};
	size_t len = 0;
	int r = slurp(s, text, cap, &len);
	if (r < 0) {
		TEXT_FORMAT(s->fault, "%s", strerror(-r));
		return r == -ENOMEM ? r : CALLFILES_NOTHING;
	}
	const struct span bytes = {*text, len};
	r = check ? pstats_parse(bytes, &nothing, &f) : 0;
	if (r == 0) {
		const struct pstats_sink sink = calls_sink(c);
		r = pstats_parse(bytes, &sink, &f);
	}
	if (r != -EBADMSG && r != -EFBIG)
		return r;
	TEXT_COPY(s->fault, f.text);
	return CALLFILES_NOTHING;
}

static bool any_rank(const struct call_sources *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].rank != NO_RANK)
			return true;
	return false;
}

static int read_all(struct call_sources *s, int32_t rank, bool check, struct calls *c, size_t *ret_read,
		    bool *ret_faults)
{
	cleanup(freep) char *text = NULL;
	size_t cap = 0, n_part = 0;
	int32_t part = NO_RANK;
	bool by_rank = any_rank(s);
	for (size_t i = 0; i < s->n; i++) {
		struct call_source *one = &s->items[i];
		if (!one->has_profile || one->fault[0] || (rank != CALLFILES_ALL && one->rank != rank))
			continue;
		if (n_part > 0 && (!by_rank || one->rank != part)) {
			calls_part_end(c, part);
			n_part = 0;
		}
		int r = source_read(one, c, check, &text, &cap);
		if (r < 0)
			return r;
		*ret_faults |= r == CALLFILES_NOTHING;
		if (r == CALLFILES_NOTHING)
			continue;
		part = one->rank;
		n_part++;
		(*ret_read)++;
	}
	if (n_part > 0)
		calls_part_end(c, part);
	return 0;
}

/*
 * Half a profile would give wrong sums without a sign of it, so a file counts as a whole or not at all. Damage is rare,
 * so files are parsed once at first; if one is damaged, all are read again with check.
 */
int callfiles_read(struct call_sources *s, int32_t rank, struct calls **ret)
{
	for (bool check = false;; check = true) {
		cleanup(calls_freep) struct calls *c = calls_new();
		size_t n = 0;
		bool faults = false;
		int r = c ? read_all(s, rank, check, c, &n, &faults) : -ENOMEM;
		if (r < 0)
			return r;
		if (faults && !check)
			continue;
		if (n == 0)
			return CALLFILES_NOTHING;
		*ret = take(&c);
		return 0;
	}
}
