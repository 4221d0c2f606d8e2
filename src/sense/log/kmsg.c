#include "sense/log/kmsg.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "sense/rightsdoor.h"

/* More than any ring of the kernel's log holds. */
#define RECORDS_MOST 65536

/* Takes a number and the byte `end` after it off the front of s. */
static bool number_until(struct span *s, char end, uint64_t *ret)
{
	const char *p = s->len > 0 ? memchr(s->p, end, s->len) : NULL;
	if (!p || span_u64((struct span){s->p, (size_t)(p - s->p)}, ret) < 0)
		return false;
	s->len -= (size_t)(p + 1 - s->p);
	s->p = p + 1;
	return true;
}

int kmsg_parse(struct span raw, struct kmsg_record *ret)
{
	struct kmsg_record r = {0};
	uint64_t prio;
	const char *semi = raw.len > 0 ? memchr(raw.p, ';', raw.len) : NULL;
	if (!semi)
		return -EBADMSG;
	struct span head = {raw.p, (size_t)(semi - raw.p)};
	if (!number_until(&head, ',', &prio) || !number_until(&head, ',', &r.seq))
		return -EBADMSG;
	if (span_u64(span_before(head, ","), &r.mono_us) < 0)
		return -EBADMSG;
	r.priority = (uint32_t)(prio & 7);
	r.facility = (uint32_t)(prio >> 3 & 0xffff);
	struct span body = {semi + 1, (size_t)(raw.p + raw.len - semi - 1)};
	const char *nl = body.len > 0 ? memchr(body.p, '\n', body.len) : NULL;
	r.text = (struct span){body.p, nl ? (size_t)(nl - body.p) : body.len};
	if (nl)
		r.more = (struct span){nl + 1, (size_t)(body.p + body.len - nl - 1)};
	*ret = r;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

size_t kmsg_unescape(struct span text, char *dst, size_t cap)
{
	size_t n = 0;
	for (size_t i = 0; i < text.len && n + 1 < cap; i++) {
		unsigned char c = (unsigned char)text.p[i];
		if (c == '\\' && i + 3 < text.len && text.p[i + 1] == 'x') {
			int hi = hex_digit(text.p[i + 2]), lo = hex_digit(text.p[i + 3]);
			if (hi >= 0 && lo >= 0) {
				c = (unsigned char)(hi << 4 | lo);
				i += 3;
			}
		}
		dst[n++] = (c < 0x20 && c != '\t') || c == 0x7f ? '?' : (char)c;
	}
	if (cap > 0)
		dst[n] = '\0';
	return n;
}

static pid_t number_at(struct span s)
{
	uint64_t v;
	return s.p && span_u64_prefix(s, &v) == 0 && v > 0 && v <= INT32_MAX ? (pid_t)v : 0;
}

/* "task python:812 blocked", "[python:812]": the number after the last colon before the text `end`. */
static pid_t number_before(struct span line, const char *end)
{
	struct span head = span_before(line, end);
	const char *colon = head.len < line.len ? span_rfind(head, ":") : NULL;
	return colon ? number_at((struct span){colon + 1, (size_t)(head.p + head.len - colon - 1)}) : 0;
}

/* True of what follows the number of who has caused a fault. */
static bool fault_follows(struct span after)
{
	static const char *const words[] = {" segfault at ", " general protection", " trap invalid opcode",
					    " trap divide error", " trap int3 ip:"};
	if (span_starts(after, ":"))
		after = (struct span){after.p + 1, after.len - 1};
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (span_starts(after, words[i]))
			return true;
	return false;
}

bool kmsg_fault(struct span line, struct span *ret_name, pid_t *ret_pid)
{
	const struct span text = span_starts(line, "traps: ") ? span_after(line, "traps: ") : line;
	for (struct span rest = span_after(text, "["); rest.p; rest = span_after(rest, "[")) {
		const struct span number = span_before(rest, "]");
		uint64_t whole;
		const pid_t pid = span_u64(number, &whole) == 0 ? number_at(number) : 0;
		if (!pid || !fault_follows(span_after(rest, "]")))
			continue;
		*ret_name = (struct span){text.p, (size_t)(rest.p - 1 - text.p)};
		*ret_pid = pid;
		return true;
	}
	return false;
}

/* "oom-kill:…,task=c,pid=7,uid=0": names of groups and of the program may hold commas, and are before it. */
static pid_t chosen_of(struct span line)
{
	const char *last = span_rfind(line, ",pid=");
	const size_t key = strlen(",pid=");
	return last ? number_at((struct span){last + key, (size_t)(line.p + line.len - last) - key}) : 0;
}

pid_t kmsg_subject(struct span line)
{
	static const char *const before_number[] = {"Killed process ", " kill process ", "OOM victim "};
	struct span name;
	pid_t pid;
	if (kmsg_fault(line, &name, &pid))
		return pid;
	if (span_starts(line, "oom-kill:"))
		return chosen_of(line);
	if (span_has(line, "blocked for more than"))
		return number_before(line, " blocked for more than");
	const bool of_memory = span_starts(line, "Out of memory") || span_starts(line, "Memory cgroup out of memory");
	pid = 0;
	for (size_t i = 0; i < ARRAY_SIZE(before_number) && !pid; i++)
		if (of_memory || span_starts(line, before_number[i]))
			pid = number_at(span_after(line, before_number[i]));
	return pid;
}

int64_t kmsg_unix_offset_ms(const struct world *w)
{
	return w->unix_ms() - (int64_t)(w->mono_ns() / NS_PER_MS);
}

/* Borrowed. -errno: there is none, or none yet. */
static int log_fd(const struct world *w)
{
	int fd = w->kmsg_fd;
	if (fd >= 0)
		return fd;
	int r = w->kmsg_denied && !w->recorded ? rightsdoor_kmsg(&fd) : -ENOENT;
	return r < 0 ? r : fd;
}

static int reopen(const struct world *w, int fd)
{
	char path[40];
	if (w->recorded)
		return -1;
	TEXT_FORMAT(path, "self/fd/%d", fd);
	return openat(w->proc_fd, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

void kmsg_close(struct kmsg *k)
{
	if (k->owned)
		closep(&k->fd);
	k->fd = -1;
	k->owned = false;
}

/*
 * Length of the first record in text: its line and the lines after it that start with a blank. 0: its end is not in
 * text yet.
 */
static size_t record_length(struct span text, bool at_end)
{
	size_t used = 0;
	while (used < text.len) {
		const char *nl = memchr(text.p + used, '\n', text.len - used);
		if (!nl)
			return at_end ? text.len : 0;
		used = (size_t)(nl + 1 - text.p);
		if (used == text.len)
			return at_end ? used : 0;
		if (text.p[used] != ' ')
			return used;
	}
	return used;
}

static bool deliver(struct kmsg *k, struct span raw, kmsg_fn *fn, void *data)
{
	struct kmsg_record r;
	if (kmsg_parse(raw, &r) < 0)
		return false;
	k->first_seq = MIN(k->first_seq, r.seq);
	if (r.seq < k->next_seq)
		return false;
	k->next_seq = r.seq + 1 > r.seq ? r.seq + 1 : r.seq;
	fn(&r, data);
	return true;
}

/* Delivers the records in the buffer of a recorded log. An incomplete record at its end stays for the next read. */
static size_t deliver_buffer(struct kmsg *k, bool at_end, size_t max, kmsg_fn *fn, void *data)
{
	size_t at = 0, n = 0;
	while (n < max && at < k->len) {
		size_t len = record_length((struct span){k->buf + at, k->len - at}, at_end);
		if (len == 0 && at == 0 && k->len == KMSG_RECORD_MAX)
			len = k->len; /* no valid record is this long: take the whole buffer as one */
		if (len == 0)
			break;
		n += deliver(k, (struct span){k->buf + at, len}, fn, data);
		at += len;
	}
	memmove(k->buf, k->buf + at, k->len - at);
	k->len -= at;
	return n;
}

/* Reads of what was read before are not counted as records, but limited as well. */
static int records_read(struct kmsg *k, size_t max, kmsg_fn *fn, void *data, size_t *ret_n)
{
	size_t n = 0;
	/* Reads are limited too: each one fails while the ring overwrites records faster than they are read. */
	const size_t most = 2 * max + 64 + (k->rewinds ? RECORDS_MOST : 0);
	for (size_t reads = 0; n < max && reads < most; reads++) {
		ssize_t got = read(k->fd, k->buf + k->len, KMSG_RECORD_MAX - k->len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EPIPE) {
			k->lost++; /* the next record was overwritten; the next read returns the oldest one */
			continue;
		}
		if (got < 0 && (errno == EPERM || errno == EACCES))
			return WORLD_DENIED;
		if (got < 0 && errno != EAGAIN)
			return -errno;
		if (k->whole_reads) {
			if (got <= 0)
				break;
			n += deliver(k, (struct span){k->buf, (size_t)got}, fn, data);
			continue;
		}
		k->len += got > 0 ? (size_t)got : 0;
		n += deliver_buffer(k, got <= 0, max - n, fn, data);
		if (got <= 0)
			break;
	}
	*ret_n = n;
	return 0;
}

static void record_passed(const struct kmsg_record *r, void *data)
{
	(void)r;
	(void)data;
}

/* What is there already does not count. */
static int pass_over(struct kmsg *k)
{
	size_t n;
	return kmsg_drain(k, RECORDS_MOST, record_passed, NULL, &n);
}

int kmsg_drain(struct kmsg *k, size_t max, kmsg_fn *fn, void *data, size_t *ret_n)
{
	const uint64_t lost = k->lost, from = k->next_seq;
	k->first_seq = UINT64_MAX;
	if (k->rewinds && lseek(k->fd, 0, SEEK_SET) < 0)
		return errno == EPERM || errno == EACCES ? WORLD_DENIED : -errno;
	int r = records_read(k, max, fn, data, ret_n);
	if (k->rewinds) /* what was overwritten meanwhile lies between the two */
		k->lost = lost + (from > 0 && k->first_seq != UINT64_MAX ? sub_floor(k->first_seq, from) : 0);
	return r;
}

int kmsg_open(const struct world *w, enum kmsg_from from, struct kmsg *ret)
{
	const int there = log_fd(w);
	if (there < 0)
		return w->kmsg_denied ? WORLD_DENIED : WORLD_ABSENT;
	cleanup(closep) int own = reopen(w, there);
	int fd = own >= 0 ? own : there;
	/* SEEK_DATA would skip records before the last `dmesg --clear`, although they are still in the ring. */
	if (lseek(fd, 0, from == KMSG_FROM_END ? SEEK_END : SEEK_SET) < 0)
		return errno == EPERM || errno == EACCES ? WORLD_DENIED : -errno;
	ret->owned = own >= 0;
	ret->fd = ret->owned ? take_fd(&own) : fd;
	ret->next_seq = 0;
	ret->lost = 0;
	ret->len = 0;
	ret->whole_reads = !w->recorded;
	ret->rewinds = ret->whole_reads && !ret->owned;
	return ret->rewinds && from == KMSG_FROM_END ? pass_over(ret) : 0;
}

void kmsg_line_format(const struct kmsg_record *r, int64_t offset_ms, char *dst, size_t cap)
{
	int64_t ms = kmsg_unix_ms(r, offset_ms);
	time_t s = (time_t)(ms / 1000);
	struct tm tm;
	char text[1024];
	text[kmsg_unescape(r->text, text, sizeof(text) - 1)] = '\0';
	if (ms < 0 || !gmtime_r(&s, &tm)) {
		(void)text_format(dst, cap, "kernel: %s", text);
		return;
	}
	(void)text_format(dst, cap, "%04d-%02d-%02dT%02d:%02d:%02d.%03d+00:00 kernel: %s", tm.tm_year + 1900,
			  tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(ms % 1000), text);
}
