#include "tell/store/series.h"

#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/private.h"
#include "tell/store/series_parts.h"

const char series_magic[SERIES_MAGIC_BYTES] = {'v', 'i', 'g', 'i', 'l', 'T', 'S', '1'};
#define MARK 0x5653u /* "SV": every record begins with it */
#define TIMES_KIND 4
#define PENDING_START 4096

/* Little-endian, field after field -------------------------------------- */

struct pen {
	unsigned char *p;
};

static void put16(struct pen *o, uint32_t v)
{
	uint16_t le = htole16((uint16_t)MIN(v, UINT16_MAX));
	memcpy(o->p, &le, sizeof(le));
	o->p += sizeof(le);
}

static void put32(struct pen *o, uint32_t v)
{
	v = htole32(v);
	memcpy(o->p, &v, sizeof(v));
	o->p += sizeof(v);
}

static void put64(struct pen *o, uint64_t v)
{
	v = htole64(v);
	memcpy(o->p, &v, sizeof(v));
	o->p += sizeof(v);
}

static uint16_t get16(const unsigned char **p)
{
	uint16_t v;
	memcpy(&v, *p, sizeof(v));
	*p += sizeof(v);
	return le16toh(v);
}

static uint32_t get32(const unsigned char **p)
{
	uint32_t v;
	memcpy(&v, *p, sizeof(v));
	*p += sizeof(v);
	return le32toh(v);
}

static uint64_t get64(const unsigned char **p)
{
	uint64_t v;
	memcpy(&v, *p, sizeof(v));
	*p += sizeof(v);
	return le64toh(v);
}

/* FNV-1a over eight bytes at a time, against torn and stray bytes, not forgery. Records are whole eights of bytes. */
static uint32_t checksum(const unsigned char *p, size_t len)
{
	uint64_t h = UINT64_C(14695981039346656037) ^ len;
	for (size_t i = 0; i + 8 <= len; i += 8) {
		uint64_t word;
		memcpy(&word, p + i, sizeof(word));
		h = (h ^ le64toh(word)) * UINT64_C(1099511628211);
		h ^= h >> 29;
	}
	return (uint32_t)(h ^ h >> 32);
}

static void sample_put(unsigned char *record, const struct series_sample *s, uint32_t n_lanes)
{
	struct pen o = {record + SERIES_HEAD_BYTES};
	put32(&o, SERIES_SAMPLE);
	put32(&o, s->attempt);
	put64(&o, (uint64_t)s->time_unix_ms);
	put64(&o, s->mono_ns);
	put64(&o, s->node_used_bytes);
	put64(&o, s->node_total_bytes);
	put64(&o, s->job_bytes);
	put32(&o, n_lanes);
	put32(&o, 0);
	for (uint32_t i = 0; i < n_lanes; i++) {
		const struct series_lane *l = &s->lane[i];
		put32(&o, (uint32_t)l->rank);
		put16(&o, l->processes);
		put16(&o, l->has_io ? 1 : 0);
		put64(&o, l->cpu_ns);
		put64(&o, l->own_bytes);
		put64(&o, l->rss_bytes);
		put64(&o, l->read_bytes);
		put64(&o, l->written_bytes);
		put64(&o, l->read_call_bytes);
		put64(&o, l->write_call_bytes);
	}
}

static void process_put(unsigned char *record, const struct series_process *p)
{
	struct pen o = {record + SERIES_HEAD_BYTES};
	put32(&o, SERIES_PROCESS);
	put32(&o, p->attempt);
	put64(&o, (uint64_t)p->started_unix_ms);
	put64(&o, (uint64_t)p->ended_unix_ms);
	put64(&o, p->start_ticks);
	put32(&o, (uint32_t)p->pid);
	put32(&o, (uint32_t)p->ppid);
	put32(&o, (uint32_t)p->rank);
	put32(&o, (uint32_t)MIN(p->own_bytes / KIB, (uint64_t)UINT32_MAX));
	(void)text_copy(memset(o.p, 0, sizeof(p->role)), sizeof(p->role), p->role);
	o.p += sizeof(p->role);
	(void)text_copy(memset(o.p, 0, sizeof(p->name)), sizeof(p->name), p->name);
}

static void steps_put(unsigned char *record, const struct series_steps *s, uint32_t n)
{
	struct pen o = {record + SERIES_HEAD_BYTES};
	put32(&o, SERIES_STEPS);
	put32(&o, s->attempt);
	put64(&o, (uint64_t)s->time_unix_ms);
	put64(&o, s->mono_ns);
	put32(&o, n);
	put32(&o, 0);
	for (uint32_t i = 0; i < n; i++) {
		put32(&o, (uint32_t)s->of[i].rank);
		put32(&o, s->of[i].has_total ? 1 : 0);
		put64(&o, s->of[i].step);
		put64(&o, s->of[i].total);
	}
}

static void devices_put(unsigned char *record, const struct series_devices *s, uint32_t n)
{
	struct pen o = {record + SERIES_HEAD_BYTES};
	put32(&o, SERIES_DEVICES);
	put32(&o, s->attempt);
	put64(&o, (uint64_t)s->time_unix_ms);
	put64(&o, s->mono_ns);
	put32(&o, n);
	put32(&o, 0);
	for (uint32_t i = 0; i < n; i++) {
		const struct series_device *d = &s->of[i];
		put32(&o, d->index);
		put32(&o, (uint32_t)d->rank);
		put32(&o, d->has);
		put32(&o, d->busy_percent);
		put64(&o, d->used_bytes);
		put64(&o, d->total_bytes);
	}
}

static void bulk_put(unsigned char *record, const struct series_bulk *s, uint32_t n)
{
	struct pen o = {record + SERIES_HEAD_BYTES};
	put32(&o, SERIES_BULK);
	put32(&o, s->attempt);
	put64(&o, (uint64_t)s->time_unix_ms);
	put64(&o, s->mono_ns);
	put32(&o, n);
	put32(&o, 0);
	for (uint32_t i = 0; i < n; i++) {
		put32(&o, (uint32_t)s->of[i].pid);
		put32(&o, 0);
		put64(&o, s->of[i].start_ticks);
		put64(&o, s->of[i].own_bytes);
	}
}

static size_t times_put(unsigned char *record, const struct step_times *t)
{
	struct pen o = {record + SERIES_HEAD_BYTES};
	put32(&o, TIMES_KIND);
	put32(&o, t->attempt);
	put64(&o, t->until_ns);
	put64(&o, t->times.count);
	put64(&o, t->times.sum_ns);
	for (size_t i = 0; i <= STEP_BUCKETS; i++)
		put64(&o, t->times.bucket[i]);
	put32(&o, t->n);
	put32(&o, 0);
	for (uint32_t i = 0; i < t->n; i++) {
		put32(&o, (uint32_t)t->of[i].rank);
		put32(&o, 0);
		put64(&o, t->of[i].step);
		put64(&o, t->of[i].moved_ns);
	}
	return SERIES_TIMES_BYTES + t->n * SERIES_TIMES_RANK_BYTES;
}

static void head_put(unsigned char *record, size_t len)
{
	struct pen o = {record};
	put16(&o, MARK);
	put16(&o, (uint32_t)len);
	put32(&o, checksum(record + SERIES_HEAD_BYTES, len - SERIES_HEAD_BYTES));
}

size_t series_times_record(unsigned char record[static SERIES_RECORD_MAX], const struct step_times *t)
{
	size_t len = times_put(record, t);
	head_put(record, len);
	return len;
}

size_t series_record_bytes(const struct series_record *rec)
{
	switch (rec->kind) {
	case SERIES_SAMPLE:
		return SERIES_SAMPLE_BYTES + rec->sample.n_lanes * SERIES_LANE_BYTES;
	case SERIES_STEPS:
		return SERIES_STEPS_BYTES + rec->steps.n * SERIES_STEP_BYTES;
	case SERIES_DEVICES:
		return SERIES_DEVICES_BYTES + rec->devices.n * SERIES_DEVICE_BYTES;
	case SERIES_BULK:
		return SERIES_BULK_BYTES + rec->bulk.n * SERIES_BULK_PROCESS_BYTES;
	default:
		return SERIES_PROCESS_BYTES;
	}
}

/* Reading ---------------------------------------------------------------- */

int series_reader_init(struct series_reader *r, struct span text)
{
	if (text.len < sizeof(series_magic) || memcmp(text.p, series_magic, sizeof(series_magic)) != 0)
		return -EBADMSG;
	*r = (struct series_reader){.rest = {text.p + sizeof(series_magic), text.len - sizeof(series_magic)},
				    .budget = 4 * text.len};
	return 0;
}

static bool sample_get(const unsigned char *p, size_t len, struct series_sample *s)
{
	s->attempt = get32(&p);
	s->time_unix_ms = (int64_t)get64(&p);
	s->mono_ns = get64(&p);
	s->node_used_bytes = get64(&p);
	s->node_total_bytes = get64(&p);
	s->job_bytes = get64(&p);
	s->n_lanes = get32(&p);
	p += 4;
	if (s->n_lanes > SERIES_LANES || len != SERIES_SAMPLE_BYTES + s->n_lanes * SERIES_LANE_BYTES)
		return false;
	for (uint32_t i = 0; i < s->n_lanes; i++) {
		struct series_lane *l = &s->lane[i];
		l->rank = (int32_t)get32(&p);
		l->processes = get16(&p);
		l->has_io = get16(&p) & 1;
		l->cpu_ns = get64(&p);
		l->own_bytes = get64(&p);
		l->rss_bytes = get64(&p);
		l->read_bytes = get64(&p);
		l->written_bytes = get64(&p);
		l->read_call_bytes = get64(&p);
		l->write_call_bytes = get64(&p);
	}
	return true;
}

static bool process_get(const unsigned char *p, size_t len, struct series_process *r)
{
	if (len != SERIES_PROCESS_BYTES)
		return false;
	r->attempt = get32(&p);
	r->started_unix_ms = (int64_t)get64(&p);
	r->ended_unix_ms = (int64_t)get64(&p);
	r->start_ticks = get64(&p);
	r->pid = (pid_t)get32(&p);
	r->ppid = (pid_t)get32(&p);
	r->rank = (int32_t)get32(&p);
	r->own_bytes = get32(&p) * (uint64_t)KIB;
	span_copy((struct span){(const char *)p, strnlen((const char *)p, sizeof(r->role))}, r->role, sizeof(r->role));
	p += sizeof(r->role);
	span_copy((struct span){(const char *)p, strnlen((const char *)p, sizeof(r->name))}, r->name, sizeof(r->name));
	return true;
}

static bool steps_get(const unsigned char *p, size_t len, struct series_steps *s)
{
	s->attempt = get32(&p);
	s->time_unix_ms = (int64_t)get64(&p);
	s->mono_ns = get64(&p);
	s->n = get32(&p);
	p += 4;
	if (s->n > SERIES_LANES || len != SERIES_STEPS_BYTES + s->n * SERIES_STEP_BYTES)
		return false;
	for (uint32_t i = 0; i < s->n; i++) {
		s->of[i].rank = (int32_t)get32(&p);
		s->of[i].has_total = get32(&p) & 1;
		s->of[i].step = get64(&p);
		s->of[i].total = get64(&p);
	}
	return true;
}

static bool devices_get(const unsigned char *p, size_t len, struct series_devices *s)
{
	s->attempt = get32(&p);
	s->time_unix_ms = (int64_t)get64(&p);
	s->mono_ns = get64(&p);
	s->n = get32(&p);
	p += 4;
	if (s->n > SERIES_DEVICES_MAX || len != SERIES_DEVICES_BYTES + s->n * SERIES_DEVICE_BYTES)
		return false;
	for (uint32_t i = 0; i < s->n; i++) {
		struct series_device *d = &s->of[i];
		d->index = get32(&p);
		d->rank = (int32_t)get32(&p);
		d->has = get32(&p);
		d->busy_percent = get32(&p);
		d->used_bytes = get64(&p);
		d->total_bytes = get64(&p);
	}
	return true;
}

static bool bulk_get(const unsigned char *p, size_t len, struct series_bulk *s)
{
	s->attempt = get32(&p);
	s->time_unix_ms = (int64_t)get64(&p);
	s->mono_ns = get64(&p);
	s->n = get32(&p);
	p += 4;
	if (s->n > SERIES_BULK_MAX || len != SERIES_BULK_BYTES + s->n * SERIES_BULK_PROCESS_BYTES)
		return false;
	for (uint32_t i = 0; i < s->n; i++) {
		s->of[i].pid = (pid_t)get32(&p);
		p += 4;
		s->of[i].start_ticks = get64(&p);
		s->of[i].own_bytes = get64(&p);
	}
	return true;
}

static bool times_get(const unsigned char *p, size_t len, struct step_times *t)
{
	t->attempt = get32(&p);
	t->until_ns = get64(&p);
	t->times.count = get64(&p);
	t->times.sum_ns = get64(&p);
	for (size_t i = 0; i <= STEP_BUCKETS; i++)
		t->times.bucket[i] = get64(&p);
	t->n = get32(&p);
	p += 4;
	if (t->n > STEP_TIMES_RANKS || len != SERIES_TIMES_BYTES + t->n * SERIES_TIMES_RANK_BYTES)
		return false;
	for (uint32_t i = 0; i < t->n; i++) {
		t->of[i].rank = (int32_t)get32(&p);
		p += 4;
		t->of[i].step = get64(&p);
		t->of[i].moved_ns = get64(&p);
	}
	return true;
}

/* Length of the record that begins here; 0: no record begins here. */
static size_t record_at(struct series_reader *r, const unsigned char *p, size_t left)
{
	const unsigned char *head = p;
	if (left < SERIES_HEAD_BYTES + 8 || get16(&head) != MARK)
		return 0;
	size_t len = get16(&head);
	if (len < SERIES_HEAD_BYTES + 8 || len > SERIES_RECORD_MAX || len % 8 || len > left || r->budget < len)
		return 0;
	if (get32(&head) == checksum(p + SERIES_HEAD_BYTES, len - SERIES_HEAD_BYTES))
		return len;
	r->budget -= len;
	return 0;
}

static void pass(struct series_reader *r, size_t n)
{
	r->rest.p += n;
	r->rest.len -= n;
}

bool series_step_times(struct span text, struct step_times *ret)
{
	struct series_reader r;
	if (series_reader_init(&r, text) < 0)
		return false;
	const unsigned char *body = (const unsigned char *)r.rest.p + SERIES_HEAD_BYTES;
	size_t len = record_at(&r, (const unsigned char *)r.rest.p, r.rest.len);
	if (len < SERIES_TIMES_BYTES || get32(&body) != TIMES_KIND)
		return false;
	struct step_times t;
	if (!times_get(body, len, &t))
		return false;
	*ret = t;
	return true;
}

bool series_next(struct series_reader *r, struct series_record *ret)
{
	while (r->rest.len > 0) {
		const unsigned char *p = (const unsigned char *)r->rest.p;
		size_t len = record_at(r, p, r->rest.len);
		if (len == 0) {
			size_t step = MIN(r->rest.len, (size_t)8);
			r->skipped_bytes += step;
			pass(r, step);
			continue;
		}
		const unsigned char *body = p + SERIES_HEAD_BYTES;
		uint32_t kind = get32(&body);
		pass(r, len);
		if (kind == SERIES_SAMPLE && len >= SERIES_SAMPLE_BYTES && sample_get(body, len, &ret->sample)) {
			ret->kind = SERIES_SAMPLE;
			return true;
		}
		if (kind == SERIES_PROCESS && process_get(body, len, &ret->process)) {
			ret->kind = SERIES_PROCESS;
			return true;
		}
		if (kind == SERIES_STEPS && len >= SERIES_STEPS_BYTES && steps_get(body, len, &ret->steps)) {
			ret->kind = SERIES_STEPS;
			return true;
		}
		if (kind == SERIES_DEVICES && len >= SERIES_DEVICES_BYTES && devices_get(body, len, &ret->devices)) {
			ret->kind = SERIES_DEVICES;
			return true;
		}
		if (kind == SERIES_BULK && len >= SERIES_BULK_BYTES && bulk_get(body, len, &ret->bulk)) {
			ret->kind = SERIES_BULK;
			return true;
		}
		/* a valid record of a kind that a newer vigil writes */
	}
	return false;
}

/* Writing ---------------------------------------------------------------- */

struct series_writer *series_close(struct series_writer *w)
{
	if (!w)
		return NULL;
	closep(&w->fd);
	free(w->pending);
	free(w);
	return NULL;
}

int series_create(const char *path, size_t max_bytes, struct series_writer **ret)
{
	struct series_writer *w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->max_bytes = MAX(max_bytes, (size_t)(4 * SERIES_RECORD_MAX));
	TEXT_COPY(w->path, path);
	(void)unlink(path);
	w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, private_file());
	int r = w->fd < 0 ? -errno : file_write_all(w->fd, series_magic, sizeof(series_magic));
	if (r < 0) {
		(void)series_close(w);
		return r;
	}
	w->bytes = sizeof(series_magic);
	*ret = w;
	return 0;
}

static int pending_room(struct series_writer *w, size_t len, unsigned char **ret)
{
	if (w->pending_len + len > w->pending_cap) {
		size_t cap = MAX(w->pending_cap * 2, MAX(w->pending_len + len, (size_t)PENDING_START));
		unsigned char *grown = realloc(w->pending, cap);
		if (!grown)
			return -ENOMEM;
		w->pending = grown;
		w->pending_cap = cap;
	}
	*ret = w->pending + w->pending_len;
	w->pending_len += len;
	return 0;
}

int series_add_sample(struct series_writer *w, const struct series_sample *s)
{
	unsigned char *record;
	uint32_t n = MIN(s->n_lanes, (uint32_t)SERIES_LANES);
	size_t len = SERIES_SAMPLE_BYTES + n * SERIES_LANE_BYTES;
	int r = pending_room(w, len, &record);
	if (r < 0)
		return r;
	sample_put(record, s, n);
	head_put(record, len);
	return 0;
}

int series_add_process(struct series_writer *w, const struct series_process *p)
{
	unsigned char *record;
	int r = pending_room(w, SERIES_PROCESS_BYTES, &record);
	if (r < 0)
		return r;
	process_put(record, p);
	head_put(record, SERIES_PROCESS_BYTES);
	return 0;
}

int series_add_steps(struct series_writer *w, const struct series_steps *s)
{
	unsigned char *record;
	uint32_t n = MIN(s->n, (uint32_t)SERIES_LANES);
	size_t len = SERIES_STEPS_BYTES + n * SERIES_STEP_BYTES;
	int r = pending_room(w, len, &record);
	if (r < 0)
		return r;
	steps_put(record, s, n);
	head_put(record, len);
	if (step_times_begin(&w->times, s->attempt, s->mono_ns))
		for (uint32_t i = 0; i < n; i++)
			step_times_take(&w->times, s->of[i].rank, s->of[i].step);
	return 0;
}

int series_add_devices(struct series_writer *w, const struct series_devices *s)
{
	unsigned char *record;
	uint32_t n = MIN(s->n, (uint32_t)SERIES_DEVICES_MAX);
	size_t len = SERIES_DEVICES_BYTES + n * SERIES_DEVICE_BYTES;
	int r = pending_room(w, len, &record);
	if (r < 0)
		return r;
	devices_put(record, s, n);
	head_put(record, len);
	return 0;
}

int series_add_bulk(struct series_writer *w, const struct series_bulk *s)
{
	unsigned char *record;
	uint32_t n = MIN(s->n, (uint32_t)SERIES_BULK_MAX);
	size_t len = SERIES_BULK_BYTES + n * SERIES_BULK_PROCESS_BYTES;
	int r = pending_room(w, len, &record);
	if (r < 0)
		return r;
	bulk_put(record, s, n);
	head_put(record, len);
	return 0;
}

int series_flush(struct series_writer *w)
{
	int r = 0;
	size_t len = w->pending_len;
	w->pending_len = 0;
	if (len == 0)
		return 0;
	if (w->bytes + len > w->max_bytes)
		r = series_make_room(w);
	if (r == 0 && w->bytes + len > 2 * w->max_bytes)
		r = -EFBIG; /* nothing more can be dropped */
	if (r == 0)
		r = file_write_all(w->fd, w->pending, len);
	if (r == 0)
		w->bytes += len;
	else if (ftruncate(w->fd, (off_t)w->bytes) < 0)
		r = -errno; /* half a record stays, and is passed over */
	return r;
}
