#include "model/hang/gostand.h"

#include <string.h>

bool gostand_waits_inside(const struct goroutine *g)
{
	switch (g->wait) {
	case GOWAIT_CHAN:
	case GOWAIT_SELECT:
		return !g->by_timer && !g->on_cut && g->n_on > 0;
	case GOWAIT_LOCK:
	case GOWAIT_GROUP:
	case GOWAIT_SEMAPHORE:
	case GOWAIT_COND:
		return g->n_on > 0;
	default:
		return false;
	}
}

/* True if it is in the same wait in both, and has not run in between. */
static bool gostand_same(const struct goroutine *a, const struct goroutine *b)
{
	if (a->id != b->id || a->addr != b->addr || a->state != GOROUTINE_WAITS || b->state != GOROUTINE_WAITS ||
	    a->wait != b->wait || a->turns != b->turns || a->sp != b->sp || a->pc != b->pc || a->n_on != b->n_on)
		return false;
	for (size_t i = 0; i < a->n_on; i++)
		if (a->on[i] != b->on[i])
			return false;
	return true;
}

/* The runtime keeps the order of its list, so that the same one stands at the same place unless others were read. */
static bool stands(const struct goroutines *before, const struct goroutines *now, size_t at)
{
	const struct goroutine *g = &now->item[at];
	if (at < before->n && before->item[at].addr == g->addr)
		return gostand_same(&before->item[at], g);
	for (size_t i = 0; i < before->n; i++)
		if (before->item[i].addr == g->addr)
			return gostand_same(&before->item[i], g);
	return false;
}

/* Waits that end when nothing but a goroutine acts; one for ever ends for nobody. */
static bool gostand_is_quiet(const struct goroutine *g)
{
	return g->wait == GOWAIT_FOREVER || gostand_waits_inside(g);
}

void gostand_living(const struct goroutines *before, const struct goroutines *now, bool *lives)
{
	for (size_t i = 0; i < now->n; i++) {
		const struct goroutine *g = &now->item[i];
		lives[i] = g->wait != GOWAIT_RUNTIME && !(gostand_is_quiet(g) && stands(before, now, i));
	}
}

bool gostand_stuck(const struct goroutines *now, const bool *reached, bool *ret_stuck)
{
	bool any = false;
	for (size_t i = 0; i < now->n; i++) {
		ret_stuck[i] = i > 0 && !reached[i] && gostand_waits_inside(&now->item[i]);
		any |= ret_stuck[i];
	}
	return any;
}

static enum gostand_kind kind_of(const struct goroutine *g, bool still, bool reached, bool cut)
{
	if (g->wait == GOWAIT_IO && still)
		return GOSTAND_OUTSIDE;
	if (g->state != GOROUTINE_WAITS || g->wait == GOWAIT_SLEEP || !still)
		return GOSTAND_LIVES;
	if (g->wait == GOWAIT_FOREVER) /* a select without cases is how a main function leaves the work to others */
		return strncmp(g->reason, "chan ", 5) == 0 ? GOSTAND_NOBODY : GOSTAND_UNKNOWN;
	if (!gostand_waits_inside(g))
		return GOSTAND_UNKNOWN;
	return cut || reached ? GOSTAND_SOMEBODY : GOSTAND_NOBODY;
}

void gostand_make(const struct goroutines *before, const struct goroutines *now, const bool *lives, const bool *reached,
		  bool cut, struct gostand *ret)
{
	ret->n = ret->n_stand = 0;
	ret->serves = ret->owed = false;
	ret->kind = GOSTAND_UNKNOWN;
	ret->since_ns = 0;
	for (size_t i = 0; i < now->n; i++) {
		const struct goroutine *g = &now->item[i];
		if (g->wait == GOWAIT_RUNTIME)
			continue;
		ret->n++;
		ret->n_stand += !lives[i];
		ret->serves |= g->wait == GOWAIT_IO || g->state == GOROUTINE_SYSCALL;
	}
	if (now->n == 0 || now->item[0].id != 1)
		return;
	bool still = stands(before, now, 0);
	ret->kind = kind_of(&now->item[0], still, reached[0], cut);
	ret->since_ns = now->item[0].since_ns;
}
