#include "agent/output/keeper.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>

#include "base/buf.h"
#include "base/file.h"

/* One writev(2) takes so many pieces. */
#define PIECES 64

struct keeper_piece {
	struct keeper_piece *next;
	struct keeper_file *file;
	size_t len;
	bool close; /* the last of its file */
	char text[];
};

static size_t weight(const struct keeper_piece *p)
{
	return sizeof(*p) + p->len;
}

void keeper_init(struct keeper *k, struct keptlogs *job, int news_fd)
{
	pthread_condattr_t clock;
	*k = (struct keeper){.job = job, .news_fd = news_fd, .end = &k->first};
	(void)pthread_mutex_init(&k->lock, NULL);
	(void)pthread_condattr_init(&clock);
	(void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&k->work, NULL);
	(void)pthread_cond_init(&k->idle, &clock);
	(void)pthread_condattr_destroy(&clock);
}

static void news(const struct keeper *k)
{
	const uint64_t one = 1;
	if (k->news_fd >= 0)
		ignore(write(k->news_fd, &one, sizeof(one)), "it is full of news already");
}

/* ---- the thread ---- */

/* The fullest file of the job gives. */
static void trim(struct keeper *k)
{
	struct keeper_file *fullest = NULL;
	(void)pthread_mutex_lock(&k->lock); /* files are being opened */
	for (size_t i = 0; i < ARRAY_SIZE(k->file); i++) {
		struct keeper_file *f = &k->file[i];
		if (f->used && f->fd >= 0 && (!fullest || keptlog_bytes(&f->kept) > keptlog_bytes(&fullest->kept)))
			fullest = f;
	}
	(void)pthread_mutex_unlock(&k->lock);
	if (fullest && keptlog_trim(&fullest->kept, fullest->fd)) {
		k->trimmed = true;
		news(k);
	}
}

static int pieces_write(const struct keeper_file *f, struct keeper_piece *p, size_t n)
{
	struct iovec iov[PIECES];
	size_t total = 0, i = 0;
	for (struct keeper_piece *q = p; i < n; q = q->next, i++) {
		iov[i] = (struct iovec){.iov_base = q->text, .iov_len = q->len};
		total += q->len;
	}
	ssize_t r = writev(f->fd, iov, (int)n);
	if (r < 0 && errno != EINTR)
		return -errno;
	size_t done = r > 0 ? (size_t)r : 0;
	for (; done < total && n > 0; p = p->next, n--) {
		if (done >= p->len) {
			done -= p->len;
			total -= p->len;
			continue;
		}
		int e = file_write_all(f->fd, p->text + done, p->len - done);
		if (e < 0)
			return e;
		total -= p->len;
		done = 0;
	}
	return 0;
}

/* Keeps the second half of what is allowed. */
static void spare_halve(struct keeper_file *f)
{
	const size_t half = KEEPER_SPARE_BYTES / 2;
	cleanup(freep) char *end = malloc(half);
	off_t size = lseek(f->spare_fd, 0, SEEK_END);
	if (!end || size < (off_t)KEEPER_SPARE_BYTES)
		return;
	ssize_t n = pread(f->spare_fd, end, half, size - (off_t)half);
	if (n <= 0 || ftruncate(f->spare_fd, 0) < 0 || lseek(f->spare_fd, 0, SEEK_SET) != 0)
		return;
	ignore(file_write_all(f->spare_fd, end, (size_t)n), "less is known of the end then");
}

static void spare_write(struct keeper_file *f, const struct keeper_piece *p, size_t n)
{
	if (f->spare_fd < 0)
		f->spare_fd = memfd_create("vigil-output", MFD_CLOEXEC);
	for (; f->spare_fd >= 0 && n > 0; p = p->next, n--) {
		const size_t most = KEEPER_SPARE_BYTES / 2, left_out = p->len - MIN(p->len, most);
		ignore(file_write_all(f->spare_fd, p->text + left_out, p->len - left_out), "less is known of the end");
		spare_halve(f);
	}
}

/* Writes the first n pieces, which are of one file. Called without the lock. */
static void pieces_done(struct keeper *k, struct keeper_piece *p, size_t n, size_t bytes)
{
	struct keeper_file *f = p->file;
	bool close_it = false;
	int r = f->fd >= 0 && !f->error && bytes > 0 ? pieces_write(f, p, n) : 0;
	if (r < 0) {
		f->error = -r;
		news(k);
	} else if (f->fd >= 0 && !f->error) {
		keptlog_wrote(&f->kept, bytes);
		if (k->job && keptlogs_over(k->job))
			trim(k);
	}
	if (f->error)
		spare_write(f, p, n);
	for (struct keeper_piece *next; n > 0; p = next, n--) {
		next = p->next;
		close_it |= p->close;
		free(p);
	}
	if (close_it || f->error) {
		closep(&f->fd);
		f->fd = -1;
	}
	f->ended |= close_it;
}

static void *keeper_main(void *arg)
{
	struct keeper *k = arg;
	(void)pthread_mutex_lock(&k->lock);
	while (!k->stop || k->first) {
		struct keeper_piece *p = k->first, *last = p;
		size_t n = 1, bytes, heavy;
		if (!p) {
			(void)pthread_cond_wait(&k->work, &k->lock);
			continue;
		}
		bytes = p->len;
		heavy = weight(p);
		for (; last->next && last->next->file == p->file && n < PIECES; n++) {
			last = last->next;
			bytes += last->len;
			heavy += weight(last);
		}
		k->first = last->next;
		if (!k->first)
			k->end = &k->first;
		k->busy = true;
		(void)pthread_mutex_unlock(&k->lock);
		pieces_done(k, p, n, bytes);
		(void)pthread_mutex_lock(&k->lock);
		k->busy = false;
		k->waiting_bytes -= heavy;
		k->written_bytes += bytes;
		(void)pthread_cond_broadcast(&k->idle);
	}
	(void)pthread_mutex_unlock(&k->lock);
	return NULL;
}

/* ---- for the others ---- */

/* Without a thread (a limit on processes) the disk is waited for, as there is nobody else to. */
static void queue(struct keeper *k, struct keeper_piece *p)
{
	sigset_t all, old;
	(void)pthread_mutex_lock(&k->lock);
	if (!k->started) {
		(void)sigfillset(&all);
		(void)pthread_sigmask(SIG_SETMASK, &all, &old);
		k->started = pthread_create(&k->thread, NULL, keeper_main, k) == 0;
		(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	if (!k->started) {
		(void)pthread_mutex_unlock(&k->lock);
		pieces_done(k, p, 1, p->len);
		return;
	}
	*k->end = p;
	k->end = &p->next;
	k->waiting_bytes += weight(p);
	if (!k->busy)
		(void)pthread_cond_signal(&k->work);
	(void)pthread_mutex_unlock(&k->lock);
}

struct keeper_file *keeper_file_open(struct keeper *k, int fd, int32_t rank, bool err)
{
	struct keeper_file *found = NULL;
	(void)pthread_mutex_lock(&k->lock);
	for (size_t i = 0; i < ARRAY_SIZE(k->file) && !found; i++)
		if (!k->file[i].used)
			found = &k->file[i];
	if (found)
		*found = (struct keeper_file){.fd = fd,
					      .spare_fd = -1,
					      .used = true,
					      .err = err,
					      .rank = rank,
					      .kept = {.job = k->job},
					      .error = fd < 0 ? EBADF : 0,
					      .error_said = fd < 0};
	(void)pthread_mutex_unlock(&k->lock);
	if (!found)
		closep(&fd);
	return found;
}

bool keeper_spare_path(const struct keeper_file *f, char *dst, size_t cap)
{
	if (!f || !f->error || f->spare_fd < 0)
		return false;
	return text_format(dst, cap, "/%s/self/fd/%d", "proc", f->spare_fd) < (int)cap;
}

static struct keeper_piece *piece_new(struct keeper_file *f, const char *text, size_t n)
{
	struct keeper_piece *p = malloc(sizeof(*p) + n);
	if (!p)
		return NULL;
	*p = (struct keeper_piece){.file = f, .len = n};
	if (n > 0)
		memcpy(p->text, text, n);
	return p;
}

void keeper_put(struct keeper *k, struct keeper_file *f, const char *text, size_t n)
{
	struct keeper_piece *p = f && n > 0 ? piece_new(f, text, n) : NULL;
	if (p) {
		queue(k, p);
	} else if (f && n > 0) {
		(void)pthread_mutex_lock(&k->lock);
		f->gap_bytes += n; /* no memory */
		f->gaps++;
		(void)pthread_mutex_unlock(&k->lock);
		news(k);
	}
}

void keeper_gap(struct keeper *k, struct keeper_file *f, uint64_t bytes)
{
	char line[128];
	if (!f || bytes == 0)
		return;
	(void)pthread_mutex_lock(&k->lock);
	f->gap_bytes += bytes;
	f->gaps++;
	(void)pthread_mutex_unlock(&k->lock);
	int n = snprintf(line, sizeof(line),
			 "[vigil: %llu bytes of output are not kept here: they came faster than they could be]\n",
			 (unsigned long long)bytes);
	keeper_put(k, f, line, (size_t)n);
	news(k);
}

void keeper_file_close(struct keeper *k, struct keeper_file *f)
{
	struct keeper_piece *p = f ? piece_new(f, NULL, 0) : NULL;
	if (!p)
		return; /* it stays open until the end */
	p->close = true;
	queue(k, p);
}

bool keeper_has_room(struct keeper *k, unsigned part)
{
	(void)pthread_mutex_lock(&k->lock);
	bool room = k->waiting_bytes < KEEPER_WAITING_BYTES / part;
	(void)pthread_mutex_unlock(&k->lock);
	return room;
}

bool keeper_flush(struct keeper *k, uint64_t (*mono_ns)(void), uint64_t until_ns, uint64_t quiet_ns)
{
	(void)pthread_mutex_lock(&k->lock);
	uint64_t written = k->written_bytes, now = mono_ns(), quiet_until = now + quiet_ns;
	while ((k->first || k->busy) && now < MIN(until_ns, quiet_until)) {
		uint64_t until = MIN(until_ns, quiet_until);
		struct timespec t = {.tv_sec = (time_t)(until / NS_PER_S), .tv_nsec = (long)(until % NS_PER_S)};
		(void)pthread_cond_timedwait(&k->idle, &k->lock, &t);
		now = mono_ns();
		if (k->written_bytes != written)
			quiet_until = now + quiet_ns;
		written = k->written_bytes;
	}
	bool all = !k->first && !k->busy;
	(void)pthread_mutex_unlock(&k->lock);
	return all;
}

void keeper_files_forget(struct keeper *k)
{
	(void)pthread_mutex_lock(&k->lock);
	for (size_t i = 0; i < ARRAY_SIZE(k->file); i++)
		if (k->file[i].used && k->file[i].ended) {
			closep(&k->file[i].spare_fd);
			k->file[i].used = false;
		}
	(void)pthread_mutex_unlock(&k->lock);
}

void keeper_stop(struct keeper *k)
{
	(void)pthread_mutex_lock(&k->lock);
	bool idle = k->started && !k->first && !k->busy;
	k->stop = true;
	(void)pthread_cond_signal(&k->work);
	(void)pthread_mutex_unlock(&k->lock);
	if (idle)
		(void)pthread_join(k->thread, NULL);
	for (size_t i = 0; idle && i < ARRAY_SIZE(k->file); i++)
		if (k->file[i].used) {
			closep(&k->file[i].fd);
			closep(&k->file[i].spare_fd);
		}
	k->started = k->started && !idle;
}
