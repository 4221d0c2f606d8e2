#include "model/hang/wakehist.h"

#include <string.h>

#include "base/vec.h"

/* Counts of a wait are halved beyond this, so that what changes is noticed. */
static const uint64_t count_most = 4096;

void wakehist_done(struct wakehist *h)
{
	free(h->row);
	*h = (struct wakehist){.n = 0};
}

void wakehist_round(struct wakehist *h)
{
	h->round++;
}

static bool same_thread(const struct wake_who *a, const struct wake_who *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->start_ticks == b->start_ticks;
}

static bool same_role(const struct wake_who *a, const struct wake_who *b)
{
	return a->main == b->main && strcmp(a->role, b->role) == 0 && strcmp(a->name, b->name) == 0;
}

static bool same_rank(const struct wake_who *a, const struct wake_who *b)
{
	return a->pid == b->pid || a->rank == b->rank;
}

static bool wakehist_same_wait(const struct wake_wait *a, const struct wake_wait *b)
{
	return a->kind == b->kind && a->place == b->place && (a->place != 0 || a->arg == b->arg);
}

/* What holds in other processes as well: not an address. */
static bool outlives(const struct wake_wait *w)
{
	return w->place != 0 || w->kind == WAKE_READ || w->kind == WAKE_WRITE;
}

/* ---- adding ---- */

static struct wakehist_row *row_find(const struct wakehist *h, const struct wake_who *wakee,
				     const struct wake_wait *wait, const struct wake_who *waker)
{
	for (size_t i = 0; i < h->n; i++) {
		struct wakehist_row *r = &h->row[i];
		if (wakehist_same_wait(&r->wait, wait) && same_thread(&r->wakee, wakee) && r->stranger == !waker &&
		    (!waker || same_thread(&r->waker, waker)))
			return r;
	}
	return NULL;
}

static struct wakehist_row *row_oldest(const struct wakehist *h)
{
	struct wakehist_row *oldest = &h->row[0];
	for (size_t i = 1; i < h->n; i++) {
		struct wakehist_row *r = &h->row[i];
		uint32_t age = h->round - r->round, most = h->round - oldest->round;
		if (age > most || (age == most && r->n < oldest->n))
			oldest = r;
	}
	return oldest;
}

static struct wakehist_row *row_new(struct wakehist *h)
{
	if (h->n == WAKEHIST_ROWS)
		return row_oldest(h);
	return vec_room(&h->row, &h->cap, h->n + 1) < 0 ? NULL : &h->row[h->n++];
}

static void counts_halve(struct wakehist *h, const struct wake_who *wakee, const struct wake_wait *wait)
{
	for (size_t i = 0; i < h->n; i++)
		if (wakehist_same_wait(&h->row[i].wait, wait) && same_thread(&h->row[i].wakee, wakee))
			h->row[i].n = (h->row[i].n + 1) / 2;
}

int wakehist_add(struct wakehist *h, const struct wake_who *wakee, const struct wake_wait *wait,
		 const struct wake_who *waker, uint64_t n)
{
	struct wakehist_row *r = row_find(h, wakee, wait, waker);
	if (!r) {
		r = row_new(h);
		if (!r)
			return -ENOMEM;
		*r = (struct wakehist_row){.wakee = *wakee, .wait = *wait, .stranger = !waker};
		if (waker)
			r->waker = *waker;
	}
	r->n += MIN(n, count_most);
	r->round = h->round;
	if (r->n > count_most)
		counts_halve(h, wakee, wait);
	return 0;
}

/* ---- asking ---- */

struct question {
	const struct wake_who *wakee;
	const struct wake_wait *wait;
	bool by_role;
};

static bool is_about(const struct wakehist_row *r, const struct question *q)
{
	return wakehist_same_wait(&r->wait, q->wait) &&
	       (q->by_role ? same_role(&r->wakee, q->wakee) : same_thread(&r->wakee, q->wakee));
}

/* Two rows have the same waker. By role only one of the thread's own rank is: another rank's is another one's peer. */
static bool same_waker(const struct wakehist_row *a, const struct wakehist_row *b, bool by_role)
{
	if (a->stranger || b->stranger)
		return false;
	if (!by_role)
		return same_thread(&a->waker, &b->waker);
	return same_rank(&a->wakee, &a->waker) && same_rank(&b->wakee, &b->waker) && same_role(&a->waker, &b->waker) &&
	       (a->wakee.pid == a->waker.pid) == (b->wakee.pid == b->waker.pid);
}

/* Returns the number of all wakes; ret->of 0: no waker has the share. */
static uint64_t answer(const struct wakehist *h, const struct question *q, struct wakehist_usual *ret)
{
	uint64_t all = 0;
	ret->of = 0;
	for (size_t i = 0; i < h->n; i++)
		all += is_about(&h->row[i], q) ? h->row[i].n : 0;
	for (size_t i = 0; i < h->n && all >= WAKEHIST_LEAST; i++) {
		const struct wakehist_row *r = &h->row[i];
		uint64_t n = 0;
		for (size_t k = 0; k < h->n && is_about(r, q) && !r->stranger; k++)
			if (is_about(&h->row[k], q) && same_waker(r, &h->row[k], q->by_role))
				n += h->row[k].n;
		if (n * 100 < all * WAKEHIST_PERCENT || n == 0)
			continue;
		*ret = (struct wakehist_usual){.by = r->waker, .n = n, .of = all, .by_role = q->by_role};
		break;
	}
	return all;
}

bool wakehist_usual(const struct wakehist *h, const struct wake_who *wakee, const struct wake_wait *wait,
		    struct wakehist_usual *ret)
{
	struct question q = {.wakee = wakee, .wait = wait};
	struct wakehist_usual found = {.of = 0};
	if (wait->kind == WAKE_NONE)
		return false;
	if (answer(h, &q, &found) < WAKEHIST_LEAST && outlives(wait)) {
		q.by_role = true;
		(void)answer(h, &q, &found);
	}
	if (found.of == 0)
		return false;
	*ret = found;
	return true;
}
