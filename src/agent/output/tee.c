#include "agent/output/tee.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"

#define CHUNK_BYTES ((size_t)65536)
/*
 * What is asked for where output is fast; the kernel's default is 64 KiB. More does not stay in the processor's cache.
 */
#define FROM_PIPE_BYTES ((int)(256 * KIB))
#define FROM_PIPE_FILE_BYTES ((int)(512 * KIB)) /* that goes to a file */
#define HELD_PIPE_BYTES ((int)MIB)
#define STAGE_PIPE_BYTES ((int)MIB)
#define STAGE_CHUNK_BYTES ((size_t)(256 * KIB))
#define HELD_BYTES ((size_t)(MIB + 2 * CHUNK_BYTES))

/* A rush lasts at least this long, or the changes would cost more than what is kept between them. */
static const uint64_t rush_least_ns = 100 * NS_PER_MS;
/* Output that pauses for this long is no rush any more. */
static const uint64_t rush_over_ns = TEE_LOOK_MS * NS_PER_MS;

static const struct tee_rush no_rush = {.pipe = {-1, -1}, .null_fd = -1, .stage = {-1, -1}};

void tee_open(struct tee *t, int from_fd, struct outbuf *to, struct keeper *keeper, struct keeper_file *file)
{
	struct stat st;
	*t = (struct tee){.from_fd = from_fd,
			  .to = to,
			  .keeper = keeper,
			  .file = file,
			  .tokens = TEE_KEPT_BURST_BYTES,
			  .tokens_ns = clock_mono_ns(),
			  .rush = no_rush};
	t->from_pipe = from_fd >= 0 && fstat(from_fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* The job's pipe was full, so it waits for us: a longer one saves both of us waking up. */
static void from_grow(struct tee *t)
{
	if (!t->from_pipe || t->grown)
		return;
	t->grown = true;
	for (int size = t->to->file ? FROM_PIPE_FILE_BYTES : FROM_PIPE_BYTES; size > (int)CHUNK_BYTES; size /= 2)
		if (fcntl(t->from_fd, F_SETPIPE_SZ, size) >= 0)
			return;
}

static void tokens_earn(struct tee *t, uint64_t now)
{
	const uint64_t ns = MIN(now - t->tokens_ns, NS_PER_S);
	t->tokens += (int64_t)(ns * (TEE_KEPT_BYTES_PER_S / MIB) / (NS_PER_S / MIB));
	t->tokens = MIN(t->tokens, (int64_t)TEE_KEPT_BURST_BYTES);
	t->tokens_ns = now;
}

static void tee_keep(struct tee *t, const char *p, size_t n)
{
	lastline_add(&t->last, p, n);
	if (t->order && t->order_err)
		streamorder_err(t->order, n);
	else if (t->order)
		streamorder_out(t->order, n, clock_mono_ns());
	keeper_put(t->keeper, t->file, p, n);
	t->tokens -= (int64_t)n;
}

/* ---- the end of a rush is held ---- */

/* In memory; the oldest makes room. */
static void held_add(struct tee_rush *r, const char *p, size_t n)
{
	if (!r->held || n > HELD_BYTES) {
		r->gap_bytes += n;
		return;
	}
	if (r->held_len + n > HELD_BYTES) {
		size_t stay = MIN(HELD_BYTES - n, (size_t)CHUNK_BYTES);
		r->gap_bytes += r->held_len - stay;
		memmove(r->held, r->held + r->held_len - stay, stay);
		r->held_len = stay;
	}
	memcpy(r->held + r->held_len, p, n);
	r->held_len += n;
}

/* What is in the pipe, too, comes into memory. */
static void held_collect(struct tee_rush *r)
{
	static char chunk[CHUNK_BYTES];
	while (r->in_pipe > 0) {
		ssize_t n = read(r->pipe[0], chunk, MIN(sizeof(chunk), r->in_pipe));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		held_add(r, chunk, (size_t)n);
		r->in_pipe -= (size_t)n;
	}
	r->gap_bytes += r->in_pipe;
	r->in_pipe = 0;
}

/* Forget the oldest, so that the pipe has room. False: it cannot be emptied. */
static bool held_drop(struct tee_rush *r, size_t n)
{
	r->gap_bytes += r->held_len;
	r->held_len = 0;
	while (n > 0) {
		ssize_t done = splice(r->pipe[0], NULL, r->null_fd, NULL, n, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (done <= 0)
			return false;
		n -= MIN(n, (size_t)done);
		r->in_pipe -= (size_t)done;
		r->gap_bytes += (uint64_t)done;
	}
	return true;
}

static void held_pipe_close(struct tee_rush *r)
{
	closep(&r->pipe[0]);
	closep(&r->pipe[1]);
	closep(&r->null_fd);
}

/* A pipe of this many bytes, or as many as are to be had. False: there is none. */
static bool pipe_open(int pipe[static 2], int flags, int most)
{
	if (pipe2(pipe, O_CLOEXEC | flags) < 0) {
		pipe[0] = pipe[1] = -1;
		return false;
	}
	for (int size = most; size > (int)CHUNK_BYTES; size /= 2)
		if (fcntl(pipe[1], F_SETPIPE_SZ, size) >= 0)
			break;
	return true;
}

static void held_pipe_open(struct tee_rush *r)
{
	r->null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (r->null_fd < 0 || !pipe_open(r->pipe, O_NONBLOCK, HELD_PIPE_BYTES))
		closep(&r->null_fd);
	else
		r->pipe_size = (size_t)MAX(fcntl(r->pipe[1], F_GETPIPE_SZ), (int)CHUNK_BYTES);
}

/* From now on what comes is copied. */
static void held_in_memory(struct tee_rush *r)
{
	if (r->pipe[0] < 0)
		return;
	held_collect(r);
	held_pipe_close(r);
}

/* ---- a rush ---- */

static void rush_begin(struct tee *t, uint64_t now)
{
	struct tee_rush *r = &t->rush;
	*r = no_rush;
	r->on = true;
	if (t->order) /* when what is held was written is not known */
		t->order->lost = true;
	r->since_ns = r->last_ns = now;
	r->held = malloc(HELD_BYTES);
	if (t->from_pipe)
		held_pipe_open(r);
	if (t->from_pipe && t->to->file)
		(void)pipe_open(r->stage, 0, STAGE_PIPE_BYTES);
	if (t->from_pipe && outbuf_splices(t->to))
		outbuf_grow(t->to);
}

/* Behind a gap, keeping begins with a whole line. */
static void rush_end(struct tee *t)
{
	struct tee_rush *r = &t->rush;
	held_collect(r);
	size_t from = 0;
	if (r->gap_bytes > 0) {
		const char *line = r->held ? memchr(r->held, '\n', MIN(r->held_len, CHUNK_BYTES)) : NULL;
		from = line && (size_t)(line - r->held) + 1 < r->held_len ? (size_t)(line - r->held) + 1 : 0;
		keeper_gap(t->keeper, t->file, r->gap_bytes + from);
		t->last.line_len = 0;
	}
	for (size_t n; from < r->held_len; from += n) {
		n = MIN(r->held_len - from, CHUNK_BYTES);
		tee_keep(t, r->held + from, n);
	}
	held_pipe_close(r);
	closep(&r->stage[0]);
	closep(&r->stage[1]);
	free(r->held);
	*r = no_rush;
	t->to->blocked = false; /* what its reader does not take is kept for it again */
}

static bool rush_may_end(struct tee *t, uint64_t now)
{
	tokens_earn(t, now);
	return now - t->rush.since_ns >= rush_least_ns && t->tokens >= (int64_t)TEE_KEPT_BURST_BYTES / 4 &&
	       keeper_has_room(t->keeper, 2);
}

void tee_look(struct tee *t)
{
	const uint64_t now = clock_mono_ns();
	if (t->rush.on && now - t->rush.last_ns >= rush_over_ns && keeper_has_room(t->keeper, 1))
		rush_end(t);
}

void tee_settle(struct tee *t)
{
	if (t->rush.on)
		rush_end(t);
}

/* The end of the job's output, or our reader has gone. */
static bool ended(struct tee *t)
{
	tee_close(t);
	return false;
}

/* Reads up to cap bytes. 1: there are *ret, 0: none now, -1: it has ended. */
static int from_read(struct tee *t, char *p, size_t cap, size_t *ret)
{
	ssize_t n = read(t->from_fd, p, cap);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) /* a terminal answers EIO when its last writer is gone */
		return -1;
	if ((size_t)n == CHUNK_BYTES)
		from_grow(t);
	*ret = (size_t)n;
	return 1;
}

/* Passes on what is held or kept already; then what comes, which is held. */
static bool pass_copy(struct tee *t)
{
	static char chunk[CHUNK_BYTES];
	size_t n, cap = t->ahead ? MIN(t->ahead, sizeof(chunk)) : sizeof(chunk);
	int got = from_read(t, chunk, cap, &n);
	if (got <= 0)
		return got == 0 || ended(t);
	t->bytes += n;
	t->rush.last_ns = clock_mono_ns();
	if (t->ahead > 0)
		t->ahead -= n;
	else
		held_add(&t->rush, chunk, n);
	return outbuf_put(t->to, chunk, n) == 0 || ended(t);
}

static size_t from_there(const struct tee *t)
{
	int there = 0;
	return ioctl(t->from_fd, FIONREAD, &there) < 0 ? 0 : (size_t)MAX(there, 0);
}

/* Nothing is there, and nobody is left who could write. */
static bool from_ended(const struct tee *t)
{
	struct pollfd p = {.fd = t->from_fd, .events = POLLIN};
	return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR)) && from_there(t) == 0;
}

/* Hold a copy of the next bytes, which stay where they are. False: that does not work here. */
static bool rush_hold(struct tee *t, size_t there)
{
	struct tee_rush *r = &t->rush;
	const size_t want = MIN(there, r->pipe_size / 2);
	if (r->in_pipe + want > r->pipe_size && !held_drop(r, r->in_pipe + want - r->pipe_size))
		return false;
	ssize_t n = tee(t->from_fd, r->pipe[1], want, SPLICE_F_NONBLOCK);
	if (n < 0 && r->in_pipe > 0 && held_drop(r, r->in_pipe)) /* it was full of pages that are filled in part */
		n = tee(t->from_fd, r->pipe[1], want, SPLICE_F_NONBLOCK);
	if (n <= 0)
		return false;
	r->in_pipe += (size_t)n;
	t->ahead = (size_t)n;
	return true;
}

/* Writes to the file what was moved into our pipe. False: the file takes no more. */
static bool stage_empty(struct tee *t, size_t left)
{
	static char chunk[STAGE_CHUNK_BYTES];
	bool splices = outbuf_splices(t->to);
	while (left > 0) {
		size_t n = 0;
		int c = splices ? outbuf_splice(t->to, t->rush.stage[0], left, &n) : 0;
		if (c == OUTBUF_BROKEN)
			return false;
		splices = n > 0;
		if (n == 0) {
			ssize_t got = read(t->rush.stage[0], chunk, MIN(left, sizeof(chunk)));
			if (got < 0 && errno == EINTR)
				continue;
			if (got <= 0 || outbuf_put(t->to, chunk, (size_t)got) != 0)
				return false;
			n = (size_t)got;
		}
		left -= n;
	}
	return true;
}

/* What is held goes to a file. */
static bool rush_store(struct tee *t)
{
	while (t->ahead > 0) {
		ssize_t n = splice(t->from_fd, NULL, t->rush.stage[1], NULL, t->ahead,
				   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n <= 0) /* somebody else has read it */
			break;
		t->ahead -= (size_t)n;
		t->bytes += (size_t)n;
		t->rush.last_ns = clock_mono_ns();
		if (!stage_empty(t, (size_t)n))
			return ended(t);
	}
	return true;
}

/* What is held is passed on: where it goes to takes pages, without being copied. */
static bool rush_move(struct tee *t)
{
	size_t n = 1;
	if (t->rush.stage[0] >= 0)
		return rush_store(t);
	while (t->ahead > 0 && n > 0 && outbuf_splices(t->to)) {
		int c = outbuf_splice(t->to, t->from_fd, t->ahead, &n);
		if (c == OUTBUF_BROKEN)
			return ended(t);
		if (c == OUTBUF_NO_SPLICE) /* a file system without it */
			return true;
		t->ahead -= n;
		t->bytes += n;
		if (n > 0)
			t->rush.last_ns = clock_mono_ns();
	}
	while (t->ahead > 0 && !outbuf_splices(t->to) && !outbuf_is_full(t->to)) {
		const size_t before = t->ahead;
		if (!pass_copy(t))
			return false;
		if (t->ahead == before) /* somebody else has read it */
			break;
	}
	return true;
}

static bool rush_pass(struct tee *t)
{
	if (outbuf_push(t->to) != 0)
		return ended(t);
	if (t->to->len > 0 && outbuf_splices(t->to)) {
		t->to->blocked = true; /* until its reader takes that: what is spliced would come before it */
		return true;
	}
	if (t->ahead == 0) {
		const size_t there = from_there(t);
		if (there == 0)
			return !from_ended(t) || ended(t);
		if (!rush_hold(t, there)) {
			held_in_memory(&t->rush);
			return true;
		}
	}
	return rush_move(t);
}

static bool move(struct tee *t)
{
	static char chunk[CHUNK_BYTES];
	size_t n, whole;
	const uint64_t now = clock_mono_ns();
	if (t->rush.on && rush_may_end(t, now))
		rush_end(t);
	if (t->rush.on && t->rush.pipe[0] >= 0)
		return rush_pass(t);
	if (t->rush.on || t->ahead > 0)
		return pass_copy(t);
	int got = from_read(t, chunk, sizeof(chunk), &n);
	if (got <= 0)
		return got == 0 || ended(t);
	t->bytes += n;
	whole = n;
	tokens_earn(t, now);
	if (t->tokens <= (int64_t)n || !keeper_has_room(t->keeper, 1)) {
		const char *line = memrchr(chunk, '\n', n); /* a gap begins with a line */
		whole = line ? (size_t)(line - chunk) + 1 : n;
		rush_begin(t, now);
	}
	tee_keep(t, chunk, whole);
	if (whole < n)
		held_add(&t->rush, chunk + whole, n - whole);
	return outbuf_put(t->to, chunk, n) == 0 || ended(t);
}

bool tee_pump(struct tee *t)
{
	if (t->from_fd < 0)
		return false;
	return outbuf_is_full(t->to) || move(t);
}

void tee_finish(struct tee *t, uint64_t (*mono_ns)(void), uint64_t until_ns)
{
	held_in_memory(&t->rush); /* what our reader does not take is kept for it, which splice(2) cannot do */
	while (t->from_fd >= 0) {
		uint64_t now = mono_ns();
		struct pollfd p = {.fd = t->from_fd, .events = POLLIN};
		int ms = now < until_ns ? (int)((until_ns - now) / NS_PER_MS) : 0;
		if (poll(&p, 1, ms) <= 0 || !move(t))
			break;
	}
	tee_close(t);
}

void tee_close(struct tee *t)
{
	if (t->from_fd >= 0 && t->rush.on)
		rush_end(t);
	if (t->from_fd >= 0)
		keeper_file_close(t->keeper, t->file);
	closep(&t->from_fd);
}
