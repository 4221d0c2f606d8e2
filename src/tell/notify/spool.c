#include "tell/notify/spool.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/foreign.h"
#include "base/vec.h"

/* "n-<milliseconds, 14 digits>-<process>-<number>-<channel>.json" */
#define STAMP_DIGITS 14
#define SCAN_MOST (4 * SPOOL_FILES)

void spool_at(struct spool *s, const char *state_dir)
{
	TEXT_FORMAT(s->dir, "%s/notify", state_dir);
}

void spool_list_done(struct spool_list *l)
{
	free(l->entry);
	*l = (struct spool_list){.entry = NULL};
}

static int spool_name_parse(const char *name, struct spool_entry *ret)
{
	uint64_t ms, part;
	struct span rest = span_of(name);
	size_t len = strlen(name);
	if (len >= sizeof(ret->file) || len < STAMP_DIGITS + 3 || strncmp(name, "n-", 2) != 0 ||
	    strcmp(name + len - 5, ".json") != 0)
		return -EINVAL;
	rest = (struct span){name + 2, len - 2 - 5};
	if (span_u64((struct span){rest.p, MIN(rest.len, (size_t)STAMP_DIGITS)}, &ms) < 0 || ms > INT64_MAX)
		return -EINVAL;
	for (int i = 0; i < 3; i++) { /* stamp, process, number */
		struct span field = span_before(rest, "-");
		if (field.len == rest.len || span_u64(field, &part) < 0)
			return -EINVAL;
		rest = (struct span){rest.p + field.len + 1, rest.len - field.len - 1};
	}
	char channel[sizeof(ret->channel)];
	if (rest.len == 0 || rest.len >= sizeof(channel))
		return -EINVAL;
	span_copy(rest, channel, sizeof(channel));
	if (!channel_name_is_fine(channel))
		return -EINVAL;
	*ret = (struct spool_entry){.time_unix_ms = (int64_t)ms};
	TEXT_COPY(ret->file, name);
	TEXT_COPY(ret->channel, channel);
	return 0;
}

static int by_age(const void *a, const void *b)
{
	return strcmp(((const struct spool_entry *)a)->file, ((const struct spool_entry *)b)->file);
}

/* The spool is no link: a user's could lead to root's own. */
static int spool_folder_open(const struct spool *s, int *ret_fd)
{
	int fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

static int spool_folder_make(const struct spool *s, int *ret_fd)
{
	int r = file_mkdirs(s->dir, 0700);
	return r < 0 ? r : spool_folder_open(s, ret_fd);
}

/* What another user has put there is not sent with root's channels, and not removed. */
static bool spool_is_ours(int folder, const char *file)
{
	struct stat st;
	return fstatat(folder, file, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       (geteuid() != 0 || st.st_uid == 0);
}

/* FOREIGN_OTHER: it is not ours. */
static int spool_slurp(const struct spool *s, const char *file, size_t most, char **ret_text, size_t *ret_len)
{
	cleanup(closep) int folder = -1, fd = -1;
	int r = spool_folder_open(s, &folder);
	if (r < 0)
		return r;
	const struct foreign_place at = {.dirfd = folder};
	r = geteuid() == 0 ? foreign_open_own(&at, file, &fd) : foreign_open(&at, file, &fd);
	return r ? r : file_slurp_fd(fd, most, ret_text, ret_len);
}

void spool_drop(const struct spool *s, const char *file)
{
	cleanup(closep) int folder = -1;
	if (spool_folder_open(s, &folder) == 0)
		(void)unlinkat(folder, file, 0);
}

static int spool_add_entry(struct spool_list *l, size_t *cap, const struct spool_entry *e)
{
	if (vec_room(&l->entry, cap, l->n + 1) < 0)
		return -ENOMEM;
	l->entry[l->n++] = *e;
	return 0;
}

/* NULL, and errno. */
static DIR *names_open(const struct spool *s)
{
	int fd = -1, r = spool_folder_open(s, &fd);
	DIR *d = r < 0 ? NULL : file_folder(fd);
	errno = r < 0 ? -r : errno;
	return d;
}

static int read_folder(const struct spool *s, int64_t now_unix_ms, struct spool_list *ret)
{
	size_t cap = 0;
	int r = 0;
	cleanup(closedirp) DIR *d = names_open(s);
	if (!d)
		return errno == ENOENT ? 0 : -errno;
	for (struct dirent *e = readdir(d); e && r == 0 && ret->n < SCAN_MOST; e = readdir(d)) {
		struct spool_entry entry;
		if (spool_name_parse(e->d_name, &entry) < 0 || !spool_is_ours(dirfd(d), e->d_name))
			continue;
		if (entry.time_unix_ms < now_unix_ms - SPOOL_AGE_MS)
			spool_drop(s, entry.file);
		else
			r = spool_add_entry(ret, &cap, &entry);
	}
	return r;
}

int spool_scan(const struct spool *s, int64_t now_unix_ms, struct spool_list *ret)
{
	*ret = (struct spool_list){.entry = NULL};
	int r = read_folder(s, now_unix_ms, ret);
	if (r < 0) {
		spool_list_done(ret);
		return r;
	}
	if (ret->n > 0)
		qsort(ret->entry, ret->n, sizeof(*ret->entry), by_age);
	return 0;
}

bool spool_is_empty(const struct spool *s)
{
	struct spool_entry entry;
	bool empty = true;
	cleanup(closedirp) DIR *d = names_open(s);
	if (!d)
		return true;
	for (struct dirent *e = readdir(d); e && empty; e = readdir(d))
		empty = spool_name_parse(e->d_name, &entry) < 0 || !spool_is_ours(dirfd(d), e->d_name);
	return empty;
}

static void make_room(const struct spool *s, int64_t now_unix_ms)
{
	cleanup(spool_list_done) struct spool_list l;
	if (spool_scan(s, now_unix_ms, &l) < 0)
		return;
	for (size_t i = 0; i + SPOOL_FILES <= l.n; i++)
		spool_drop(s, l.entry[i].file);
}

/* Like file_replace without fsync, which could take seconds: the store has what a power cut destroys here. */
static int put_quickly(const struct spool *s, const char *file, const char *text)
{
	char beside[NAME_MAX + 1];
	cleanup(closep) int folder = -1;
	TEXT_FORMAT(beside, "%s.new", file);
	int r = spool_folder_make(s, &folder);
	if (r < 0)
		return r;
	(void)unlinkat(folder, beside, 0);
	cleanup(closep) int fd = openat(folder, beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	r = file_write_all(fd, text, strlen(text));
	if (r == 0 && renameat(folder, beside, folder, file) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(folder, beside, 0);
	return r;
}

int spool_put(const struct spool *s, const char *channel, const struct notice *n, int64_t now_unix_ms)
{
	static uint32_t number;
	char name[96];
	if (!channel_name_is_fine(channel))
		return -EINVAL;
	cleanup(js_freep) struct js *j = notice_json(n);
	cleanup(freep) char *text = js_text(j, 0);
	if (!text)
		return -ENOMEM;
	if (strlen(text) > SPOOL_BYTES)
		return -EFBIG;
	make_room(s, now_unix_ms);
	TEXT_FORMAT(name, "n-%0*lld-%d-%06u-%s.json", STAMP_DIGITS, (long long)MAX(now_unix_ms, INT64_C(0)),
		    (int)getpid(), ++number, channel);
	return put_quickly(s, name, text);
}

int spool_read(const struct spool *s, const char *file, struct notice *ret)
{
	cleanup(freep) char *text = NULL;
	cleanup(js_freep) struct js *j = NULL;
	size_t len;
	int r = spool_slurp(s, file, SPOOL_BYTES, &text, &len);
	if (r == -ENOENT || r > 0)
		return SPOOL_NONE;
	if (r < 0 && r != -EFBIG)
		return r;
	if (r == 0 && js_parse(text, len, &j, NULL) == 0 && notice_from_json(j, ret) == 0)
		return 0;
	spool_drop(s, file);
	return SPOOL_NONE;
}

int spool_lock(const struct spool *s, const char *what, int *ret_fd)
{
	char name[NAME_MAX + 1];
	cleanup(closep) int folder = -1;
	int r = spool_folder_make(s, &folder);
	if (r < 0)
		return r;
	TEXT_FORMAT(name, "lock%s%s", *what ? "-" : "", what);
	cleanup(closep) int fd = openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? SPOOL_BUSY : -errno;
	*ret_fd = take_fd(&fd);
	return 0;
}

static void delivery_name(const char *channel, char dst[static NAME_MAX - 4])
{
	(void)text_format(dst, NAME_MAX - 4, "channel-%s.json", channel);
}

static void groups_read(const struct js *a, struct delivery *l)
{
	for (size_t i = 0; i < js_len(a) && l->n < DELIVERY_GROUPS; i++) {
		const struct js *o = js_at(a, i);
		struct delivery_group *g = &l->group[l->n];
		int64_t sent = js_get_i64(o, "sent", 1);
		TEXT_COPY(g->key, js_get_text(o, "key", ""));
		TEXT_COPY(g->id, js_get_text(o, "id", ""));
		g->sent_ms = js_get_i64(o, "sent_unix_ms", 0);
		g->sent = sent > 0 && sent < 1000 ? (uint32_t)sent : 1;
		g->open = js_get_bool(o, "open", false);
		l->n += g->key[0] != '\0';
	}
}

static int64_t not_negative(const struct js *j, const char *key)
{
	return MAX(js_get_i64(j, key, 0), INT64_C(0));
}

void spool_delivery_read(const struct spool *s, const char *channel, struct delivery *ret)
{
	char name[NAME_MAX - 4];
	cleanup(freep) char *text = NULL;
	cleanup(js_freep) struct js *j = NULL;
	size_t len;
	memset(ret, 0, sizeof(*ret));
	delivery_name(channel, name);
	if (spool_slurp(s, name, SPOOL_BYTES * 2, &text, &len) != 0 || js_parse(text, len, &j, NULL) < 0)
		return;
	double used = js_get_double(j, "tokens_used", 0);
	ret->tokens_used = used > 0 && used < 1e6 ? used : 0;
	ret->tokens_ms = not_negative(j, "tokens_unix_ms");
	ret->fails = (uint32_t)MIN(not_negative(j, "fails"), INT64_C(1000000));
	ret->failed_ms = not_negative(j, "failed_unix_ms");
	ret->retry_ms = not_negative(j, "retry_unix_ms");
	ret->delivered = (uint64_t)not_negative(j, "delivered");
	ret->rejected = (uint64_t)not_negative(j, "rejected");
	ret->delivered_ms = not_negative(j, "delivered_unix_ms");
	ret->rejected_ms = not_negative(j, "rejected_unix_ms");
	TEXT_COPY(ret->trouble, js_get_text(j, "trouble", ""));
	groups_read(js_get(j, "groups"), ret);
}

int spool_delivery_write(const struct spool *s, const char *channel, const struct delivery *l)
{
	char name[NAME_MAX - 4];
	cleanup(js_freep) struct js *j = js_object();
	struct js *groups = js_array();
	js_put_double(j, "tokens_used", l->tokens_used);
	js_put_i64(j, "tokens_unix_ms", l->tokens_ms);
	js_put_u64(j, "fails", l->fails);
	js_put_i64(j, "failed_unix_ms", l->failed_ms);
	js_put_i64(j, "retry_unix_ms", l->retry_ms);
	js_put_u64(j, "delivered", l->delivered);
	js_put_u64(j, "rejected", l->rejected);
	js_put_i64(j, "delivered_unix_ms", l->delivered_ms);
	js_put_i64(j, "rejected_unix_ms", l->rejected_ms);
	js_put_text_if(j, "trouble", l->trouble);
	for (size_t i = 0; i < l->n; i++) {
		struct js *g = js_object();
		js_put_text(g, "key", l->group[i].key);
		js_put_text(g, "id", l->group[i].id);
		js_put_i64(g, "sent_unix_ms", l->group[i].sent_ms);
		js_put_u64(g, "sent", l->group[i].sent);
		js_put_bool(g, "open", l->group[i].open);
		js_add(groups, g);
	}
	js_put(j, "groups", groups);
	cleanup(freep) char *text = js_text(j, 0);
	if (!text)
		return -ENOMEM;
	delivery_name(channel, name);
	return put_quickly(s, name, text);
}
