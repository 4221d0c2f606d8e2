#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/private.h"
#include "base/vec.h"
#include "tell/store/series_parts.h"
#include "tell/store/seriestier.h"

/* Of the file, processes that ended keep a quarter at most, and a quarter is free afterwards. */
#define PROCESS_SHARE 4
#define FREE_SHARE 4

struct life {
	pid_t pid;
	uint64_t start_ticks;
};

static int life_order(const void *a, const void *b)
{
	const struct life *x = a, *y = b;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->start_ticks < y->start_ticks ? -1 : x->start_ticks > y->start_ticks;
}

struct squeeze {
	struct series_writer *w;
	char *text; /* owned */
	size_t len;
	struct life *ended; /* sorted */
	int64_t *lived_ms; /* of each of those, longest first */
	size_t n_ended;
	int64_t shortest_ms; /* ended processes that lived so long stay as long as there are… */
	size_t ties; /* …so many of them left; those that lived longer stay all */
	struct series_mark *mark; /* of every record that a reader finds */
	size_t n_marks, cap_marks;
	size_t process_bytes; /* of the processes that stay */
};

static void squeeze_done(struct squeeze *q)
{
	free(q->ended);
	free(q->lived_ms);
	free(q->mark);
	free(q->text);
}

static int64_t lived_ms(const struct series_process *p)
{
	int64_t ms;
	return __builtin_sub_overflow(p->ended_unix_ms, p->started_unix_ms, &ms) ? 0 : ms;
}

/* Processes that have ended, whose earlier records can be dropped. */
static int ended_find(struct squeeze *q)
{
	struct series_reader r;
	static struct series_record rec;
	int result = series_reader_init(&r, (struct span){q->text, q->len});
	if (result < 0)
		return result;
	q->ended = calloc(q->len / SERIES_PROCESS_BYTES + 1, sizeof(*q->ended));
	q->lived_ms = calloc(q->len / SERIES_PROCESS_BYTES + 1, sizeof(*q->lived_ms));
	if (!q->ended || !q->lived_ms)
		return -ENOMEM;
	while (series_next(&r, &rec)) {
		if (rec.kind != SERIES_PROCESS || rec.process.ended_unix_ms == 0)
			continue;
		q->lived_ms[q->n_ended] = lived_ms(&rec.process);
		q->ended[q->n_ended++] = (struct life){rec.process.pid, rec.process.start_ticks};
	}
	if (q->n_ended)
		qsort(q->ended, q->n_ended, sizeof(*q->ended), life_order);
	return 0;
}

static int longest_first(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x > y ? -1 : x < y;
}

/* Chooses the ended processes that are kept. */
static void shortest_find(struct squeeze *q)
{
	size_t places = q->w->max_bytes / PROCESS_SHARE / SERIES_PROCESS_BYTES;
	q->shortest_ms = INT64_MIN;
	q->ties = SIZE_MAX;
	if (q->n_ended <= places)
		return;
	qsort(q->lived_ms, q->n_ended, sizeof(*q->lived_ms), longest_first);
	q->shortest_ms = q->lived_ms[places - 1];
	q->ties = places;
	for (size_t i = 0; i < places && q->lived_ms[i] > q->shortest_ms; i++)
		q->ties--;
}

static bool process_stays(const struct squeeze *q, const struct series_process *p, size_t *ties)
{
	const struct life key = {p->pid, p->start_ticks};
	if (p->ended_unix_ms == 0)
		return !bsearch(&key, q->ended, q->n_ended, sizeof(key), life_order);
	int64_t ms = lived_ms(p);
	if (ms != q->shortest_ms)
		return ms > q->shortest_ms;
	if (*ties == 0)
		return false;
	--*ties;
	return true;
}

static uint64_t sample_weight(const struct series_sample *s)
{
	uint64_t own_bytes = 0;
	for (uint32_t i = 0; i < s->n_lanes; i++)
		own_bytes += s->lane[i].own_bytes;
	return MAX(s->job_bytes, own_bytes);
}

static uint64_t devices_weight(const struct series_devices *d)
{
	uint64_t used_bytes = 0;
	for (uint32_t i = 0; i < d->n; i++)
		used_bytes += d->of[i].used_bytes;
	return used_bytes;
}

/* Of steps that weigh the same, the last ones stay. */
static struct series_mark mark_of(struct squeeze *q, const struct series_record *rec, size_t *ties)
{
	switch (rec->kind) {
	case SERIES_SAMPLE:
		return (struct series_mark){.mono_ns = rec->sample.mono_ns,
					    .weight = sample_weight(&rec->sample),
					    .kind = SERIES_SAMPLE};
	case SERIES_STEPS:
		return (struct series_mark){.mono_ns = rec->steps.mono_ns, .kind = SERIES_STEPS};
	case SERIES_DEVICES:
		return (struct series_mark){.mono_ns = rec->devices.mono_ns,
					    .weight = devices_weight(&rec->devices),
					    .kind = SERIES_DEVICES};
	default:
		return (struct series_mark){.stays = process_stays(q, &rec->process, ties)};
	}
}

/* What belongs to the sample right before it is a part of that record; without that sample it goes. */
static bool goes_with_sample(struct squeeze *q, const struct series_record *rec, uint32_t offset)
{
	if (rec->kind != SERIES_BULK)
		return false;
	struct series_mark *last = q->n_marks > 0 ? &q->mark[q->n_marks - 1] : NULL;
	if (last && last->kind == SERIES_SAMPLE && last->mono_ns == rec->bulk.mono_ns &&
	    last->offset + last->bytes == offset)
		last->bytes += (uint16_t)series_record_bytes(rec);
	return true;
}

/* Goes through all records; of processes it is known at once which stay. */
static int marks_read(struct squeeze *q)
{
	struct series_reader r;
	static struct series_record rec;
	int result = series_reader_init(&r, (struct span){q->text, q->len});
	if (result < 0)
		return result;
	size_t ties = q->ties;
	while (series_next(&r, &rec)) {
		uint16_t bytes = (uint16_t)series_record_bytes(&rec);
		uint32_t offset = (uint32_t)(r.rest.p - bytes - q->text);
		if (goes_with_sample(q, &rec, offset))
			continue;
		if (vec_room(&q->mark, &q->cap_marks, q->n_marks + 1) < 0)
			return -ENOMEM;
		struct series_mark *m = &q->mark[q->n_marks++];
		*m = mark_of(q, &rec, &ties);
		m->bytes = bytes;
		m->offset = offset;
		q->process_bytes += m->kind == 0 && m->stays ? m->bytes : 0;
	}
	return 0;
}

/* Moves what stays to the front of the text. Returns its length. */
static size_t pack(struct squeeze *q)
{
	size_t len = 0;
	for (size_t i = 0; i < q->n_marks; i++)
		if (q->mark[i].stays) {
			memmove(q->text + len, q->text + q->mark[i].offset, q->mark[i].bytes);
			len += q->mark[i].bytes;
		}
	return len;
}

/* Writes a new file beside and renames it: a reader sees the old or the new file, never a half. */
static int replace(struct series_writer *w, const char *records, size_t len)
{
	char beside[PATH_MAX];
	unsigned char head[SERIES_MAGIC_BYTES + SERIES_RECORD_MAX];
	size_t head_len = SERIES_MAGIC_BYTES;
	if (text_format(beside, sizeof(beside), "%s.new", w->path) >= (int)sizeof(beside))
		return -ENAMETOOLONG;
	memcpy(head, series_magic, SERIES_MAGIC_BYTES);
	if (w->times.n > 0)
		head_len += series_times_record(head + SERIES_MAGIC_BYTES, &w->times);
	cleanup(closep) int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, private_file());
	int r = fd < 0 ? -errno : file_write_all(fd, head, head_len);
	if (r == 0)
		r = file_write_all(fd, records, len);
	if (r == 0 && rename(beside, w->path) < 0)
		r = -errno;
	if (r < 0) {
		(void)unlink(beside);
		return r;
	}
	closep(&w->fd);
	w->fd = take_fd(&fd);
	w->bytes = head_len + len;
	return 0;
}

int series_make_room(struct series_writer *w)
{
	uint64_t spacing_ns[SERIES_TIERS];
	cleanup(squeeze_done) struct squeeze q = {.w = w};
	int r = file_slurp(AT_FDCWD, w->path, 2 * w->max_bytes, &q.text, &q.len);
	if (r < 0 || (r = ended_find(&q)) < 0)
		return r;
	shortest_find(&q);
	r = marks_read(&q);
	if (r < 0)
		return r;
	size_t taken = q.process_bytes + SERIES_MAGIC_BYTES + SERIES_RECORD_MAX;
	size_t room = sub_floor(w->max_bytes - w->max_bytes / FREE_SHARE, taken);
	(void)seriestier_thin(q.mark, q.n_marks, MAX(room, w->max_bytes / 2 - SERIES_RECORD_MAX), spacing_ns);
	return replace(w, q.text, pack(&q));
}
