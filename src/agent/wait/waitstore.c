#include "agent/wait/waitstore.h"

#include "agent/inspect/standstill.h"
#include "base/buf.h"
#include "base/vec.h"
#include "sense/framework/storekey.h"
#include "sense/framework/storesetter.h"
#include "sense/rank.h"

/* Threads of a process that are asked: those that wait for a store are few. */
static const size_t threads_most = 8;

/* True if it waits for one connection, as a client does. */
static bool is_client(const struct waitfacts *f, const struct waitfact_thread *t)
{
	bool waits = !t->runs && (t->wait == WAIT_POLL || t->wait == WAIT_SOCKET);
	return waits && t->n == 1 && f->fact[t->first].kind == WAITFACT_TCP && !f->fact[t->first].to_write;
}

static bool waitstore_key(const struct world *w, const struct maps *m, struct remote *r,
			  const struct waitfact_thread *t, struct waithint *ret)
{
	char token[STANDSTILL_TOKEN];
	struct threadwait call;
	struct storekey key;
	if (!standstill_token(w, t->pid, t->tid, token, &call) || storekey_read(m, r, call.sp, &key) != 0 ||
	    standstill_moved(w, t->pid, t->tid, token))
		return false;
	*ret = (struct waithint){.kind = WAITHINT_KEY, .pid = t->pid, .tid = t->tid, .rank = NO_RANK};
	enum storesetter setter = key.n == 1 ? storesetter_of(key.key, &ret->rank) : STORESETTER_UNKNOWN;
	ret->by_rank = setter == STORESETTER_RANK;
	ret->by_last = setter == STORESETTER_LAST;
	struct buf b = BUF_ON(ret->text);
	buf_reset(&b);
	buf_printf(&b, "key \"%s\"", key.key);
	if (key.n > 1)
		buf_printf(&b, " and %zu more", key.n - 1);
	buf_add(&b, " of the store");
	return true;
}

int waitstore_read(const struct world *w, const struct waitfacts *facts, const struct waitfact_process *p,
		   struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	cleanup(maps_done) struct maps m = {.n = 0};
	struct remote r;
	size_t asked = 0;
	int e = 0;
	remote_open(w, p->pid, &r);
	for (uint32_t i = 0; i < p->n_threads && asked < threads_most && e == 0; i++) {
		const struct waitfact_thread *t = &facts->thread[p->first_thread + i];
		struct waithint one;
		if (!is_client(facts, t))
			continue;
		if (asked++ == 0 && maps_read(w, p->pid, &m) != 0)
			break;
		if (!waitstore_key(w, &m, &r, t, &one))
			continue;
		e = vec_room(hint, cap_hints, *n_hints + 1);
		if (e == 0)
			(*hint)[(*n_hints)++] = one;
	}
	remote_done(&r);
	return e;
}
