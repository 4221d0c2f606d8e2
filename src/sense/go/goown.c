#include "sense/go/goown.h"

#include <string.h>

#include "base/vec.h"
#include "sense/go/goroutine.h"

#define CHUNK_WORDS 2048
#define PROCESSORS_MAX 1024
#define TIMERS_MAX 65536

void goown_done(struct goown *o)
{
	free(o->addr);
	free(o->processor);
	*o = (struct goown){.addr = NULL};
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

bool goown_has(const struct goown *o, uint64_t addr)
{
	return o->n > 0 && bsearch(&addr, o->addr, o->n, sizeof(*o->addr), by_address) != NULL;
}

static int own_add(struct goown *o, uint64_t addr)
{
	if (vec_room(&o->addr, &o->cap, o->n + 1) < 0)
		return -ENOMEM;
	o->addr[o->n++] = addr;
	return 0;
}

/* All g, as those of goroutines that have ended keep what they had. */
static int goroutines_list(struct goproc *p, struct goown *o)
{
	uint64_t slice[2];
	int r = remote_read(p->remote, p->allgs, slice, sizeof(slice));
	if (r || slice[1] > GOROUTINES_MAX) {
		o->cut = true;
		return r == REMOTE_FAULT ? 0 : r;
	}
	if (vec_room(&o->addr, &o->cap, slice[1] + 1) < 0)
		return -ENOMEM;
	o->n = slice[1];
	return goproc_words(p, slice[0], o->addr, o->n);
}

bool goown_timers(struct goproc *p, uint64_t processor, uint64_t *ret_from, uint64_t *ret_to, bool *ret_cut)
{
	uint64_t slice[2];
	if (remote_read(p->remote, processor + p->at.p_timers, slice, sizeof(slice)) != 0)
		return false;
	*ret_cut |= slice[1] > TIMERS_MAX;
	*ret_from = slice[0];
	*ret_to = slice[0] + slice[1] * p->at.timer_bytes;
	return slice[1] <= TIMERS_MAX;
}

/* True if an object of the heap is large enough to have the timers of a runtime.p that begins here. */
static bool holds_timers(struct goproc *p, struct goheap *heap, uint64_t addr)
{
	struct goobject o;
	return goheap_object(heap, addr, &o) && addr - o.base + p->at.p_timers + 2 * sizeof(uint64_t) <= o.bytes;
}

/* runtime.allp: a slice of runtime.p, each of which has its number and a state first. */
static bool is_processors(struct goproc *p, struct goheap *heap, const uint64_t slice[static 3],
			  uint64_t each[static PROCESSORS_MAX])
{
	if (slice[0] == 0 || slice[0] % 8 || slice[1] == 0 || slice[1] > slice[2] || slice[2] > PROCESSORS_MAX ||
	    !goproc_try(p) || remote_read(p->remote, slice[0], each, slice[1] * 8) != 0)
		return false;
	for (size_t i = 0; i < slice[1]; i++) {
		uint32_t head[2];
		if (each[i] == 0 || each[i] % 8 || !holds_timers(p, heap, each[i]) ||
		    remote_read(p->remote, each[i], head, sizeof(head)) != 0 || head[0] != i || head[1] > 4)
			return false;
	}
	return true;
}

/* Lists the processors; of one alone others may look the same, and are listed as well. */
static int processors_list(struct goproc *p, struct goheap *heap, struct goown *o)
{
	uint64_t words[CHUNK_WORDS], each[PROCESSORS_MAX];
	const size_t n_g = o->n;
	for (uint64_t at = p->bss; at < p->ebss; at += sizeof(words) - 16) {
		size_t n = (size_t)MIN((p->ebss - at) / 8, (uint64_t)CHUNK_WORDS);
		int r = goproc_words(p, at, words, n);
		for (size_t i = 0; i + 2 < n && r == 0; i++) {
			if (!is_processors(p, heap, words + i, each))
				continue;
			if (o->n - n_g + words[i + 1] > PROCESSORS_MAX) {
				o->cut = true;
				return 0;
			}
			for (size_t c = 0; c < words[i + 1] && r == 0; c++)
				r = own_add(o, each[c]);
		}
		if (r)
			return r;
	}
	return 0;
}

/* Large objects begin with a word of the allocator's, so that a pointer to one is not the object's address. */
static int bases_add(struct goheap *heap, struct goown *o)
{
	struct goobject obj;
	const size_t n = o->n;
	for (size_t i = 0; i < n; i++)
		if (goheap_object(heap, o->addr[i], &obj) && obj.base != o->addr[i] && own_add(o, obj.base) < 0)
			return -ENOMEM;
	return 0;
}

int goown_read(struct goproc *p, struct goheap *heap, struct goown *ret)
{
	cleanup(goown_done) struct goown o = {.addr = NULL};
	int r = goroutines_list(p, &o);
	size_t n_g = o.n;
	if (r == 0 && !o.cut)
		r = processors_list(p, heap, &o);
	if (r)
		return r;
	o.n_processors = o.n - n_g;
	o.cut |= o.n_processors == 0; /* their timers could not be read */
	o.processor = calloc(o.n_processors + 1, sizeof(*o.processor));
	if (!o.processor)
		return -ENOMEM;
	if (o.n_processors)
		memcpy(o.processor, o.addr + n_g, o.n_processors * sizeof(*o.processor));
	if (bases_add(heap, &o) < 0)
		return -ENOMEM;
	if (o.n)
		qsort(o.addr, o.n, sizeof(*o.addr), by_address);
	*ret = o;
	o = (struct goown){.addr = NULL};
	return 0;
}
