#include "agent/map/mapoutput.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "agent/map/mapresults.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/foreign_path.h"
#include "base/log.h"
#include "base/vec.h"
#include "tell/text/textout.h"

/* Output of at most this size waits in memory, not in files. */
#define HELD_TEXT (16 * KIB)
/* Files that may wait; each task has two. */
#define HELD_FILES 200
#define IDLE_FILES 64
#define CHUNK (64 * KIB)
#define BLOCKED_MS 20

struct map_held {
	bool over;
	struct map_files files;
	char *tag;
	char *text[2]; /* instead of the files */
	size_t len[2];
};

void mapoutput_init(struct mapoutput *o, const struct map_spec *spec, const struct mapoutput_wait *wait)
{
	*o = (struct mapoutput){.spec = spec, .wait = *wait, .kept = {-1, -1}, .next_seq = 1, .table = {.fd = -1}};
	for (int i = 0; i < 2; i++) {
		struct stat st;
		o->direct[i] = fstat(i + 1, &st) == 0 && S_ISREG(st.st_mode);
		o->terminal[i] = isatty(i + 1);
	}
}

static void files_close(struct map_files *files)
{
	closep(&files->out);
	closep(&files->err);
	for (int i = 0; i < 2; i++) {
		closep(&files->line[i].fd);
		free(files->line[i].text);
		files->line[i].text = NULL;
	}
}

void mapoutput_no_more(struct mapoutput *o)
{
	for (size_t i = 0; i < o->n_idle; i++)
		close(o->idle[i]);
	o->n_idle = 0;
}

void mapoutput_done(struct mapoutput *o)
{
	mapoutput_no_more(o);
	for (size_t i = 0; i < o->n_held; i++) {
		files_close(&o->held[i].files);
		free(o->held[i].tag);
		free(o->held[i].text[0]);
		free(o->held[i].text[1]);
	}
	free(o->idle);
	free(o->held);
	closep(&o->kept[0]);
	closep(&o->kept[1]);
	maptable_close(&o->table);
}

bool mapoutput_full(const struct mapoutput *o)
{
	return o->held_files >= HELD_FILES;
}

/* A file without a name, on a disk if there is one to be had. */
static int file_make(void)
{
	const char *dir = foreign_path_variable("TMPDIR"); /* a user may serve the files of a place */
	int fd = open(dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC | O_APPEND, 0600);
	if (fd < 0)
		fd = memfd_create("vigil-map", MFD_CLOEXEC);
	return fd;
}

static int grouped_take(struct mapoutput *o, struct map_files *files, struct fault *f)
{
	int *const fd[] = {&files->out, &files->err};
	for (size_t i = 0; i < 2; i++) {
		*fd[i] = o->n_idle > 0 ? o->idle[--o->n_idle] : file_make();
		if (*fd[i] < 0)
			return fault_set(f, -errno, "no file for a task's output: %s", strerror(errno));
	}
	return 0;
}

static int lines_take(struct map_files *files, struct fault *f)
{
	int *const fd[] = {&files->out, &files->err};
	for (size_t i = 0; i < 2; i++) {
		int both[2];
		if (pipe2(both, O_CLOEXEC) < 0)
			return fault_set(f, -errno, "no pipe for a task's output: %s", strerror(errno));
		files->line[i].fd = both[0];
		*fd[i] = both[1];
		(void)fcntl(both[0], F_SETFL, O_NONBLOCK);
	}
	return 0;
}

int mapoutput_take(struct mapoutput *o, const struct map_args *args, uint64_t seq, struct map_files *ret,
		   struct fault *f)
{
	struct map_files files = MAP_FILES_NONE;
	int r = 0;
	if (o->spec->results && o->spec->results_as == MAP_FOLDERS) {
		files.named = true;
		r = mapresults_open(o->spec->results, args, seq, &files.out, &files.err, f);
	} else if (o->spec->output == MAP_GROUP) {
		r = grouped_take(o, &files, f);
	} else if (o->spec->output == MAP_LINES) {
		r = lines_take(&files, f);
	}
	if (r < 0)
		files_close(&files);
	else
		*ret = files;
	return r;
}

void mapoutput_started(struct map_files *files)
{
	if (files->line[0].fd < 0)
		return;
	closep(&files->out);
	closep(&files->err);
}

/* ---- passing on ---- */

/* Writes to our own channel as fast as its reader reads. -EPIPE, -ECANCELED: given up. */
static int channel_write(struct mapoutput *o, int fd, const char *p, size_t len)
{
	if (o->direct[fd - 1])
		return file_write_all(fd, p, len);
	while (len > 0) {
		struct pollfd ready = {.fd = fd, .events = POLLOUT};
		if (poll(&ready, 1, BLOCKED_MS) <= 0) {
			if (!o->wait.blocked(o->wait.ctx))
				return -ECANCELED;
			continue;
		}
		/* a channel that is ready takes so much without waiting */
		ssize_t n = write(fd, p, MIN(len, (size_t)PIPE_BUF));
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		p += MAX(n, 0);
		len -= (size_t)MAX(n, 0);
	}
	return 0;
}

static void pass(struct mapoutput *o, int which, const char *p, size_t len)
{
	o->wait.before(o->wait.ctx);
	int r = o->error ? 0 : channel_write(o, which + 1, p, len);
	if (r == -ECANCELED || (r < 0 && which == 0))
		o->error = r;
	if (o->kept[which] < 0)
		return;
	size_t most = (size_t)MIN(len, sub_floor(MAPOUTPUT_KEPT, o->kept_bytes[which]));
	if (most > 0 && file_write_all(o->kept[which], p, most) < 0)
		closep(&o->kept[which]);
	o->kept_bytes[which] += most;
}

char *mapoutput_shown(const char *text)
{
	const size_t cap = 3 * strlen(text) + 1;
	cleanup(freep) char *from = strdup(text);
	char *clean = from ? malloc(cap) : NULL;
	size_t len = 0;
	for (char *rest = from, *line; clean && (line = strsep(&rest, "\n"));) {
		textout_clean(line, clean + len, cap - len);
		len += strlen(clean + len);
		if (rest)
			clean[len++] = '\n';
	}
	return clean;
}

/* Each line after the tag. *at_start: the next byte begins a line. */
static void pass_tagged(struct mapoutput *o, int which, const char *tag, const char *p, size_t len, bool *at_start)
{
	cleanup(freep) char *text = NULL;
	cleanup(freep) char *clean = tag && o->terminal[which] ? mapoutput_shown(tag) : NULL;
	size_t size = 0;
	FILE *f = tag ? open_memstream(&text, &size) : NULL;
	if (!f) {
		pass(o, which, p, len);
		return;
	}
	for (size_t at = 0; at < len;) {
		const char *end = memchr(p + at, '\n', len - at);
		size_t n = end ? (size_t)(end + 1 - p) - at : len - at;
		if (*at_start)
			(void)fprintf(f, "%s\t", clean ? clean : tag);
		(void)fwrite(p + at, 1, n, f);
		*at_start = end != NULL;
		at += n;
	}
	if (fclose(f) == 0)
		pass(o, which, text, size);
}

static void pass_file(struct mapoutput *o, int which, int fd, const char *tag)
{
	static char chunk[CHUNK];
	bool at_start = true;
	for (uint64_t at = 0;;) {
		ssize_t n = pread(fd, chunk, sizeof(chunk), (off_t)at);
		if (n <= 0)
			return;
		pass_tagged(o, which, tag, chunk, (size_t)n, &at_start);
		at += (uint64_t)n;
	}
}

static uint64_t file_bytes(int fd)
{
	struct stat st;
	return fd >= 0 && fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* A file goes back to be used again, unless its task has left somebody who may still write to it. */
static void file_back(struct mapoutput *o, int *fd, bool again)
{
	bool empty = again && *fd >= 0 && (file_bytes(*fd) == 0 || ftruncate(*fd, 0) == 0);
	if (!empty || o->n_idle >= IDLE_FILES || vec_room(&o->idle, &o->idle_cap, o->n_idle + 1) < 0 ||
	    lseek(*fd, 0, SEEK_SET) < 0) {
		closep(fd);
		return;
	}
	o->idle[o->n_idle++] = take_fd(fd);
}

void mapoutput_drop(struct mapoutput *o, struct map_files *files)
{
	bool again = !files->named && files->line[0].fd < 0;
	file_back(o, &files->out, again);
	file_back(o, &files->err, again);
	files_close(files);
}

static void group_pass(struct mapoutput *o, struct map_files *files, const char *tag)
{
	if (file_bytes(files->out) > 0)
		pass_file(o, 0, files->out, tag);
	if (file_bytes(files->err) > 0)
		pass_file(o, 1, files->err, tag);
	mapoutput_drop(o, files);
}

/* ---- in order ---- */

static struct map_held *held_of(struct mapoutput *o, uint64_t seq)
{
	size_t at = (size_t)(seq - o->next_seq);
	if (vec_room(&o->held, &o->held_cap, at + 1) < 0)
		return NULL;
	while (o->n_held <= at)
		o->held[o->n_held++] = (struct map_held){.files = MAP_FILES_NONE};
	return &o->held[at];
}

static void hold(struct mapoutput *o, struct map_held *h, struct map_files *files, const char *tag)
{
	int *const fd[] = {&files->out, &files->err};
	h->over = true;
	h->files = *files;
	h->tag = tag ? strdup(tag) : NULL;
	if (files->named || file_bytes(files->out) > HELD_TEXT || file_bytes(files->err) > HELD_TEXT) {
		o->held_files++;
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		size_t len = (size_t)file_bytes(*fd[i]);
		h->text[i] = len > 0 ? malloc(len) : NULL;
		if (h->text[i])
			ignore(file_read_from(*fd[i], 0, h->text[i], len, &h->len[i]), "what was read is passed on");
	}
	mapoutput_drop(o, files);
	h->files = MAP_FILES_NONE;
}

static void table_pass(struct mapoutput *o, const char *text, size_t len)
{
	size_t head_len = 0;
	cleanup(freep) char *head = maptable_head(&o->table, &head_len);
	if (head)
		table_pass(o, head, head_len);
	if (o->table.fd < 0)
		pass(o, 0, text, len);
	else if (o->table_error == 0)
		o->table_error = file_write_all(o->table.fd, text, len);
}

static void held_pass(struct mapoutput *o, struct map_held *h)
{
	if (h->files.out >= 0) {
		o->held_files--;
		group_pass(o, &h->files, h->tag);
	}
	for (int i = 0; i < 2; i++) {
		bool at_start = true;
		if (h->text[i] && o->table.as != MAP_FOLDERS)
			table_pass(o, h->text[i], h->len[i]);
		else if (h->text[i])
			pass_tagged(o, i, h->tag, h->text[i], h->len[i], &at_start);
		free(h->text[i]);
	}
	free(h->tag);
}

static void held_flush(struct mapoutput *o)
{
	size_t n = 0;
	while (n < o->n_held && o->held[n].over)
		held_pass(o, &o->held[n++]);
	o->next_seq += n;
	o->n_held -= n;
	if (n > 0)
		memmove(o->held, o->held + n, o->n_held * sizeof(*o->held));
}

void mapoutput_skip(struct mapoutput *o, uint64_t seq)
{
	struct map_held *h = o->spec->keep_order ? held_of(o, seq) : NULL;
	if (h)
		h->over = true;
	if (h)
		held_flush(o);
}

/* ---- by lines ---- */

static void stream_pass(struct mapoutput *o, struct map_stream *s, int which, const char *tag, bool all)
{
	const char *end = s->len > 0 ? memrchr(s->text, '\n', s->len) : NULL;
	size_t n = all ? s->len : end ? (size_t)(end + 1 - s->text) : 0;
	bool at_start = true;
	if (n == 0)
		return;
	pass_tagged(o, which, tag, s->text, n, &at_start);
	s->passed_bytes += n;
	s->len -= n;
	memmove(s->text, s->text + n, s->len);
}

void mapoutput_readable(struct mapoutput *o, struct map_files *files, int which, const char *tag)
{
	struct map_stream *s = &files->line[which];
	while (s->fd >= 0) {
		if (vec_room(&s->text, &s->cap, s->len + CHUNK) < 0)
			return;
		ssize_t n = read(s->fd, s->text + s->len, CHUNK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			closep(&s->fd);
		if (n <= 0)
			return;
		s->len += (size_t)n;
		stream_pass(o, s, which, tag, false);
	}
}

static uint64_t lines_over(struct mapoutput *o, struct map_files *files, const char *tag)
{
	for (int i = 0; i < 2; i++) {
		mapoutput_readable(o, files, i, tag);
		stream_pass(o, &files->line[i], i, tag, true);
	}
	uint64_t bytes = files->line[0].passed_bytes;
	files_close(files);
	return bytes;
}

/* A task that wrote to a full disk was told so, and may have passed over it. A file in memory has no disk. */
static void room_look(struct mapoutput *o, const struct map_files *files)
{
	struct statvfs v;
	if (o->room_told || files->out < 0 || fstatvfs(files->out, &v) < 0 || v.f_blocks == 0 ||
	    (geteuid() == 0 ? v.f_bfree : v.f_bavail) > 0)
		return;
	o->room_told = true;
	log_warning("the disk is full where the output of tasks is kept until they end: what they print may be cut "
		    "off; free some, name another folder in TMPDIR, or pass it on at once (--line-buffer)");
}

uint64_t mapoutput_over(struct mapoutput *o, uint64_t seq, struct map_files *files, const char *tag)
{
	if (files->line[0].fd >= 0 || files->line[0].cap > 0)
		return lines_over(o, files, tag);
	room_look(o, files);
	uint64_t bytes = file_bytes(files->out);
	struct map_held *h = o->spec->keep_order && seq > o->next_seq ? held_of(o, seq) : NULL;
	if (h) {
		hold(o, h, files, tag);
		return bytes;
	}
	group_pass(o, files, tag);
	mapoutput_skip(o, seq);
	return bytes;
}

uint64_t mapoutput_over_row(struct mapoutput *o, struct joblog_row *row, const struct map_args *args,
			    struct map_files *files, const char *tag)
{
	const int fds[] = {files->out, files->err};
	size_t len = 0;
	room_look(o, files);
	row->receive_bytes = file_bytes(files->out);
	cleanup(freep) char *text = maptable_row(&o->table, row, args, tag, fds, &len);
	if (!text && o->table_error == 0)
		o->table_error = -ENOMEM;
	mapoutput_drop(o, files);
	struct map_held *h = o->spec->keep_order && row->seq > o->next_seq ? held_of(o, row->seq) : NULL;
	if (h) {
		h->over = true;
		h->text[0] = take(&text);
		h->len[0] = len;
		return row->receive_bytes;
	}
	if (text)
		table_pass(o, text, len);
	mapoutput_skip(o, row->seq);
	return row->receive_bytes;
}
