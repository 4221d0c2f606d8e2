#include "agent/jobs/pagesignal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"

#define KEY "page_signal"
#define KEPT "page-signals"
/* Of the file so much is read, from its end. */
#define KEPT_READ 16384

static void pagesignal_key(const struct signal_sent *sent, char dst[static 80])
{
	(void)text_format(dst, 80, KEY " %d %" PRIu64 " %d", (int)sent->target, sent->target_start_ticks, sent->signal);
}

static void pagesignal_value(const struct signal_sent *sent, char dst[static 120])
{
	(void)text_format(dst, 120, "%" PRId64 " %d %u %s", sent->time_unix_ms, (int)sent->sender,
			  (unsigned)sent->sender_uid, sent->page_role);
}

int pagesignal_put(struct store *s, const char *job, const struct signal_sent *sent)
{
	char key[80], text[120];
	pagesignal_key(sent, key);
	pagesignal_value(sent, text);
	return store_put_note(s, job, key, text);
}

/* The file in a folder that is this user's own; links are not followed, and nothing but a file is waited for. */
static int kept_open(const char *folder, int flags)
{
	struct stat st;
	cleanup(closep) int dir = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || fstat(dir, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid())
		return -EPERM;
	cleanup(closep) int fd = openat(dir, KEPT, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) && st.st_uid == geteuid() ? take_fd(&fd) : -EPERM;
}

static int kept_add(const char *folder, const struct signal_sent *sent, const char *value)
{
	char key[80], line[240];
	pagesignal_key(sent, key);
	TEXT_FORMAT(line, "%s %s\n", key, value);
	cleanup(closep) int fd = kept_open(folder, O_WRONLY | O_APPEND | O_CREAT);
	return fd < 0 ? fd : file_write_all(fd, line, strlen(line));
}

int pagesignal_keep(const char *folder, const struct signal_sent *sent)
{
	char text[120];
	pagesignal_value(sent, text);
	return kept_add(folder, sent, text);
}

int pagesignal_unkeep(const char *folder, const struct signal_sent *sent)
{
	return kept_add(folder, sent, "0");
}

int pagesignal_drop(struct store *s, const char *job, const struct signal_sent *sent)
{
	char key[80];
	pagesignal_key(sent, key);
	return store_drop_note(s, job, key);
}

/* The next word, a number from 1 up to the largest; 0: it is none. */
static uint64_t pagesignal_number(struct span *rest, uint64_t most)
{
	struct span word;
	uint64_t v;
	return span_word(rest, &word) && span_u64(word, &v) == 0 && v <= most ? v : 0;
}

struct taking {
	struct signal_sent *dst;
	size_t n, cap;
};

static bool pagesignal_is_same(const struct signal_sent *a, const struct signal_sent *b)
{
	return a->target == b->target && a->target_start_ticks == b->target_start_ticks && a->signal == b->signal;
}

/* A later one takes the place of an earlier one, and without a time only that one goes. */
static void taking_add(struct taking *t, const struct signal_sent *s)
{
	size_t at = 0;
	while (at < t->n && !pagesignal_is_same(&t->dst[at], s))
		at++;
	if (at == t->n && at == t->cap)
		at = 0;
	if (at < t->n)
		memmove(&t->dst[at], &t->dst[at + 1], (--t->n - at) * sizeof(t->dst[0]));
	if (s->time_unix_ms > 0)
		t->dst[t->n++] = *s;
}

/* False: it says something else. The time of one that was not sent is 0. */
static bool sent_parse(struct span *key, struct span *value, struct signal_sent *ret)
{
	struct span head = {0}, role = {0};
	struct signal_sent s = {.sender_comm = "vigil"};
	if (!span_word(key, &head) || !span_eq(head, KEY))
		return false;
	s.target = (pid_t)pagesignal_number(key, INT32_MAX);
	s.target_start_ticks = pagesignal_number(key, UINT64_MAX);
	s.signal = (int)pagesignal_number(key, 64);
	s.time_unix_ms = (int64_t)pagesignal_number(value, INT64_MAX);
	s.sender = (pid_t)pagesignal_number(value, INT32_MAX);
	s.sender_uid = (uid_t)pagesignal_number(value, UINT32_MAX);
	if (!s.target || !s.signal || (s.time_unix_ms && (!s.sender || !span_word(value, &role))))
		return false;
	span_copy(role, s.page_role, sizeof(s.page_role));
	*ret = s;
	return true;
}

static int note_take(void *ctx, const char *key, const char *value)
{
	struct taking *t = ctx;
	struct signal_sent s;
	struct span name = span_of(key), text = span_of(value);
	if (t->n < t->cap && sent_parse(&name, &text, &s) && s.time_unix_ms > 0)
		t->dst[t->n++] = s;
	return 0;
}

static void kept_take(struct taking *t, const char *folder)
{
	static char text[KEPT_READ];
	struct stat st;
	struct signal_sent s;
	struct span line;
	size_t len = 0;
	cleanup(closep) int fd = kept_open(folder, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	const uint64_t from = sub_floor((uint64_t)st.st_size, sizeof(text));
	if (file_read_from(fd, from, text, sizeof(text), &len) < 0)
		return;
	struct span rest = {text, len};
	if (from > 0)
		(void)span_line(&rest, &line); /* its beginning is not there */
	while (span_line(&rest, &line))
		if (sent_parse(&line, &line, &s))
			taking_add(t, &s);
}

size_t pagesignal_read(struct store *s, const char *folder, const char *job, struct signal_sent *dst, size_t cap)
{
	struct taking t = {.dst = dst, .cap = cap};
	if (s)
		ignore(store_each_note(s, job, note_take, &t), "then they are strangers' signals");
	if (folder && folder[0] && cap > 0)
		kept_take(&t, folder);
	return t.n;
}
