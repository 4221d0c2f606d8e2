#include "sense/go/goroutine.h"

#include <string.h>

#include "base/buf.h"

#define SCAN_BIT 0x1000u
#define BATCH 64
/* Words above the stack pointer among which the runtime keeps what a wait for a semaphore or descriptor is about. */
#define LOCALS_WORDS 96
#define SUDOG_ELEM 24
#define POLL_FD 8
#define FD_SANE (UINT64_C(1) << 22)
#define SUDOG_BYTES 96
#define CHAN_BYTES 48
/* Of a type: its kind, and of a struct the slice of its fields, of which each has its type in the middle. */
#define TYPE_KIND 23
#define TYPE_FIELDS 56
#define TYPE_BYTES 72
#define KIND_MASK 31
#define KIND_STRUCT 25
#define FIELD_WORDS 3
#define TIME_FIELDS 3
/* A sync.Cond has its notifyList behind the locker, and that one's mutex is locked when the goroutine is parked. */
#define COND_LIST 16
#define LIST_LOCK 8
#define LIST_WAITERS_MAX 256
/* In poll.FD: its poll.pollDesc, which is a pointer to the runtime's. */
#define FILE_POLL 32

static const struct {
	const char *name;
	enum goroutine_wait wait;
} waits[] = {
	{"chan receive", GOWAIT_CHAN},
	{"chan send", GOWAIT_CHAN},
	{"chan receive (durable)", GOWAIT_CHAN},
	{"chan send (durable)", GOWAIT_CHAN},
	{"select", GOWAIT_SELECT},
	{"select (durable)", GOWAIT_SELECT},
	{"sync.Mutex.Lock", GOWAIT_LOCK},
	{"sync.RWMutex.RLock", GOWAIT_LOCK},
	{"sync.RWMutex.Lock", GOWAIT_LOCK},
	{"sync.WaitGroup.Wait", GOWAIT_GROUP},
	{"sync.WaitGroup.Wait (durable)", GOWAIT_GROUP},
	{"semacquire", GOWAIT_SEMAPHORE},
	{"sync.Cond.Wait", GOWAIT_COND},
	{"chan receive (nil chan)", GOWAIT_FOREVER},
	{"chan send (nil chan)", GOWAIT_FOREVER},
	{"select (no cases)", GOWAIT_FOREVER},
	{"IO wait", GOWAIT_IO},
	{"sleep", GOWAIT_SLEEP},
	{"force gc (idle)", GOWAIT_RUNTIME},
	{"finalizer wait", GOWAIT_RUNTIME},
	{"cleanup wait", GOWAIT_RUNTIME},
	{"GOMAXPROCS updater (idle)", GOWAIT_RUNTIME},
	{"trace reader (blocked)", GOWAIT_RUNTIME},
};

static enum goroutine_wait goroutine_wait_of(const char *reason)
{
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		if (strcmp(waits[i].name, reason) == 0)
			return waits[i].wait;
	return strncmp(reason, "GC ", 3) == 0 ? GOWAIT_RUNTIME : GOWAIT_UNKNOWN;
}

const char *goroutine_state_name(enum goroutine_state s)
{
	static const char *const names[] = {"ready", "runs", "system call", "waits", "other"};
	return names[s];
}

void goroutines_done(struct goroutines *s)
{
	free(s->item);
	*s = (struct goroutines){.n = 0};
}

/* ---- what it waits for ---- */

static void on_add(struct goroutine *g, uint64_t addr)
{
	for (size_t i = 0; i < g->n_on; i++)
		if (g->on[i] == addr)
			return;
	if (g->n_on == GOROUTINE_ON)
		g->on_cut = true;
	else
		g->on[g->n_on++] = addr;
}

static int kind_read(struct goproc *p, uint64_t type, uint8_t *ret)
{
	int r = remote_read(p->remote, type + TYPE_KIND, ret, 1);
	*ret &= KIND_MASK;
	return r;
}

/* time.Time is a struct of a uint64, an int64 and a pointer. REMOTE_FAULT. */
static int is_time_read(struct goproc *p, uint64_t type, bool *ret)
{
	static const uint8_t kinds[TIME_FIELDS] = {11, 6, 22};
	unsigned char t[TYPE_BYTES];
	uint64_t fields[2], field[TIME_FIELDS * FIELD_WORDS];
	bool same = true;
	int r = remote_read(p->remote, type, t, sizeof(t));
	if (r)
		return r;
	memcpy(fields, t + TYPE_FIELDS, sizeof(fields));
	if ((t[TYPE_KIND] & KIND_MASK) != KIND_STRUCT || fields[1] != TIME_FIELDS) {
		*ret = false;
		return 0;
	}
	r = remote_read(p->remote, fields[0], field, sizeof(field));
	for (size_t i = 0; i < TIME_FIELDS && r == 0 && same; i++) {
		uint8_t kind = 0;
		r = kind_read(p, field[i * FIELD_WORDS + 1], &kind);
		same = kind == kinds[i];
	}
	if (r == 0)
		*ret = same;
	return r;
}

/*
 * A channel of times may be a timer's, also where it does not say so (GODEBUG asynctimerchan=1). Who sends waits for a
 * receiver, which no clock is. *ret_empty: its elements have no content.
 */
static int chan_timer_note(struct goproc *p, const unsigned char chan[static CHAN_BYTES], struct goroutine *g,
			   bool *ret_empty)
{
	uint16_t elem_bytes;
	uint64_t timer = 0, type;
	bool times = false;
	*ret_empty = false;
	if (strncmp(g->reason, "chan send", 9) == 0)
		return 0;
	memcpy(&elem_bytes, chan + 24, sizeof(elem_bytes));
	memcpy(&type, chan + p->at.chan_type, sizeof(type));
	if (p->at.chan_timer)
		memcpy(&timer, chan + p->at.chan_timer, sizeof(timer));
	if (elem_bytes == 24) {
		times = true; /* if it cannot be read */
		int r = is_time_read(p, type, &times);
		if (r && r != REMOTE_FAULT)
			return r;
	}
	g->by_clock |= timer != 0 || times;
	*ret_empty = elem_bytes == 0;
	return 0;
}

/*
 * Follows the list of sudogs: one for each channel. If all are without content, as a context's is, none brings
 * anything: the end may come when a time is over, or be meant never to come.
 */
static int channels_read(struct goproc *p, struct goroutine *g)
{
	uint64_t at = g->waiting;
	bool all_empty = at != 0;
	for (size_t n = 0; at && n < 64; n++) {
		unsigned char s[SUDOG_BYTES], chan[CHAN_BYTES];
		uint64_t owner, c;
		int r = remote_read(p->remote, at, s, sizeof(s));
		if (r)
			return r == REMOTE_FAULT ? 0 : r;
		memcpy(&owner, s, sizeof(owner));
		memcpy(&c, s + p->at.sudog_c, sizeof(c));
		memcpy(&at, s + p->at.sudog_link, sizeof(at));
		if (owner != g->addr || c == 0)
			break;
		r = remote_read(p->remote, c, chan, sizeof(chan));
		if (r)
			return r == REMOTE_FAULT ? 0 : r;
		on_add(g, c);
		bool empty;
		r = chan_timer_note(p, chan, g, &empty);
		if (r)
			return r;
		all_empty &= empty;
	}
	g->on_cut |= at != 0;
	g->by_timer = g->by_clock || all_empty;
	return 0;
}

/* A semaphore's sudog names the goroutine and the semaphore; a descriptor's pollDesc the goroutine and the number. */
static int local_look(struct goproc *p, struct goroutine *g, uint64_t word)
{
	uint64_t s[8];
	size_t rg = p->at.poll_rg / 8;
	int r = word && word % 8 == 0 ? remote_read(p->remote, word, s, sizeof(s)) : REMOTE_FAULT;
	if (r)
		return r == REMOTE_FAULT ? 0 : r;
	if (g->wait != GOWAIT_IO) {
		if (s[0] == g->addr && s[SUDOG_ELEM / 8] != 0)
			on_add(g, s[SUDOG_ELEM / 8]);
	} else if ((s[rg] == g->addr || s[rg + 1] == g->addr) && s[POLL_FD / 8] < FD_SANE) {
		g->fd = (int)s[POLL_FD / 8];
		g->to_write = s[rg] != g->addr;
		g->poll = word;
	}
	return 0;
}

/* Whether this is a sync.Cond's list of waiters, and has the goroutine. */
static int list_look(struct goproc *p, struct goroutine *g, uint64_t list)
{
	uint64_t l[3], sudog[2];
	int r = list && list % 8 == 0 ? remote_read(p->remote, list, l, sizeof(l)) : REMOTE_FAULT;
	uint64_t at = r == 0 ? l[2] : 0;
	for (size_t n = 0; r == 0 && at && at % 8 == 0 && n < LIST_WAITERS_MAX && goproc_try(p); n++) {
		r = remote_read(p->remote, at, sudog, sizeof(sudog));
		if (r == 0 && sudog[0] == g->addr) {
			on_add(g, list);
			return 0;
		}
		at = r == 0 ? sudog[1] : 0;
	}
	return r == REMOTE_FAULT ? 0 : r;
}

static int cond_look(struct goproc *p, struct goroutine *g, uint64_t word)
{
	int r = list_look(p, g, word);
	if (r == 0 && g->n_on == 0)
		r = list_look(p, g, word + COND_LIST);
	return r == 0 && g->n_on == 0 ? list_look(p, g, word - LIST_LOCK) : r;
}

/* The poll.FD that has the runtime's description of the descriptor. */
static int file_look(struct goproc *p, struct goroutine *g, uint64_t word)
{
	uint64_t s[FILE_POLL / 8 + 1] = {0};
	int r = g->poll && word && word % 8 == 0 ? remote_read(p->remote, word, s, sizeof(s)) : REMOTE_FAULT;
	if (r == 0 && (s[0] == g->poll || s[FILE_POLL / 8] == g->poll))
		g->file = word;
	return r == REMOTE_FAULT ? 0 : r;
}

static int locals_read(struct goproc *p, struct goroutine *g)
{
	uint64_t word[LOCALS_WORDS];
	size_t n = MIN((g->stack_to - g->sp) / 8, (uint64_t)LOCALS_WORDS);
	int r = goproc_words(p, g->sp, word, n);
	for (size_t i = 0; i < n && r == 0 && g->n_on == 0 && g->fd < 0; i++)
		if (word[i] < g->stack_from || word[i] >= g->stack_to)
			r = g->wait == GOWAIT_COND ? cond_look(p, g, word[i]) : local_look(p, g, word[i]);
	for (size_t i = 0; i < n && r == 0 && g->fd >= 0 && g->file == 0; i++)
		if (word[i] != g->poll && (word[i] < g->stack_from || word[i] >= g->stack_to))
			r = file_look(p, g, word[i]);
	return r;
}

static int wait_read(struct goproc *p, struct goroutine *g)
{
	switch (g->wait) {
	case GOWAIT_CHAN:
	case GOWAIT_SELECT:
		return channels_read(p, g);
	case GOWAIT_LOCK:
	case GOWAIT_GROUP:
	case GOWAIT_SEMAPHORE:
	case GOWAIT_COND:
	case GOWAIT_IO:
		return locals_read(p, g);
	default:
		return 0;
	}
}

/* ---- one goroutine ---- */

static uint64_t u64_in(const unsigned char *g, size_t at)
{
	uint64_t v;
	memcpy(&v, g + at, sizeof(v));
	return v;
}

static enum goroutine_state goroutine_state_of(uint32_t status)
{
	switch (status & ~SCAN_BIT) {
	case 1:
		return GOROUTINE_RUNNABLE;
	case 2:
		return GOROUTINE_RUNS;
	case 3:
		return GOROUTINE_SYSCALL;
	case 4:
	case 10: /* found by the collector to wait for ever */
		return GOROUTINE_WAITS;
	default:
		return GOROUTINE_OTHER;
	}
}

/* False: it has ended, and its g is kept for another one. */
static bool goroutine_parse(const struct goproc *p, uint64_t addr, const unsigned char g[static GO_G_BYTES],
			    struct goroutine *ret)
{
	uint32_t status;
	memcpy(&status, g + p->at.status, sizeof(status));
	status &= ~SCAN_BIT;
	*ret = (struct goroutine){
		.addr = addr,
		.id = u64_in(g, p->at.goid),
		.state = goroutine_state_of(status),
		.turns = g[p->at.tracking_seq],
		.stack_from = u64_in(g, GO_G_STACK),
		.stack_to = u64_in(g, GO_G_STACK + 8),
		.start_pc = u64_in(g, p->at.startpc),
		.fd = -1,
	};
	if (status == 0 || status == 6 || status == 11 || ret->id == 0)
		return false;
	if (ret->state == GOROUTINE_WAITS) {
		uint8_t reason = g[p->at.waitreason];
		if (reason < GO_REASONS)
			TEXT_COPY(ret->reason, p->reason[reason]);
		ret->wait = goroutine_wait_of(ret->reason);
		ret->since_ns = u64_in(g, p->at.waitsince);
		ret->waiting = u64_in(g, p->at.waiting);
	}
	bool call = ret->state == GOROUTINE_SYSCALL;
	if (ret->state == GOROUTINE_WAITS || ret->state == GOROUTINE_RUNNABLE || call) {
		ret->sp = u64_in(g, call ? p->at.syscall_sp : GO_G_SP);
		ret->pc = u64_in(g, call ? p->at.syscall_pc : GO_G_PC);
	}
	if (ret->sp < ret->stack_from || ret->sp >= ret->stack_to || ret->sp % 8)
		ret->sp = ret->pc = 0;
	return true;
}

/* Several at a time, as each read is a system call. */
static int batch_read(struct goproc *p, const uint64_t *addr, size_t n, struct goroutines *s)
{
	static unsigned char bytes[BATCH][GO_G_BYTES]; /* large; readers take turns */
	struct iovec into[BATCH], from[BATCH];
	size_t got = 0;
	for (size_t i = 0; i < n; i++) {
		into[i] = (struct iovec){bytes[i], GO_G_BYTES};
		from[i] = (struct iovec){(void *)(uintptr_t)addr[i], GO_G_BYTES};
	}
	int r = remote_readv(p->remote, into, n, from, n, &got);
	if (r && r != REMOTE_FAULT)
		return r;
	for (size_t i = 0; i < got / GO_G_BYTES && r == 0; i++) {
		struct goroutine *g = &s->item[s->n];
		if (!goroutine_parse(p, addr[i], bytes[i], g))
			continue;
		s->n++;
		r = g->sp ? wait_read(p, g) : 0;
	}
	return r == REMOTE_FAULT ? 0 : r;
}

int goroutines_read(struct goproc *p, struct goroutines *ret)
{
	cleanup(goroutines_done) struct goroutines s = {.n = 0};
	uint64_t slice[2], addr[BATCH];
	int r = remote_read(p->remote, p->allgs, slice, sizeof(slice));
	if (r)
		return r == REMOTE_FAULT ? GO_UNKNOWN : r;
	size_t n = (size_t)MIN(slice[1], (uint64_t)GOROUTINES_MAX);
	s.item = calloc(n + 1, sizeof(*s.item));
	if (!s.item)
		return -ENOMEM;
	for (size_t i = 0; i < n && r == 0; i += BATCH) {
		size_t part = MIN(n - i, (size_t)BATCH);
		r = remote_read(p->remote, slice[0] + i * 8, addr, part * sizeof(addr[0]));
		if (r == 0)
			r = batch_read(p, addr, part, &s);
	}
	if (r)
		return r == REMOTE_FAULT ? GO_UNKNOWN : r;
	s.n_all = s.n + (slice[1] - n);
	*ret = s;
	s = (struct goroutines){.n = 0};
	return 0;
}
