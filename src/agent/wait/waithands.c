#include "agent/wait/waithands.h"

#include "agent/inspect/standstill.h"
#include "base/vec.h"
#include "sense/net/fdtarget.h"
#include "sense/pylib/pysock.h"

#define THREADS_MOST 64 /* of a process that are looked at */
#define LOOKS_MOST 4 /* at a thread that runs meanwhile */

static bool is_connection(const struct waitfact *f)
{
	return (f->kind == WAITFACT_TCP || f->kind == WAITFACT_UNIX) && f->peer_id != 0;
}

static bool has_other_end(const struct waitfacts *f, const struct waitfact *fact, pid_t pid)
{
	for (uint32_t i = 0; i < fact->n_holders; i++)
		if (f->holder[fact->first_holder + i].pid == pid)
			return true;
	return false;
}

/* The first wait, from *at on, of another process at a connection whose other end this one has; NULL: no more. */
static const struct waitfact *next_client(const struct waitfacts *f, pid_t pid, size_t *at)
{
	for (; *at < f->n_threads; ++*at) {
		const struct waitfact_thread *t = &f->thread[*at];
		for (uint32_t k = 0; t->pid != pid && k < t->n; k++) {
			const struct waitfact *fact = &f->fact[t->first + k];
			if (is_connection(fact) && has_other_end(f, fact, pid)) {
				++*at;
				return fact;
			}
		}
	}
	return NULL;
}

bool waithands_wanted(const struct waitfacts *f, const struct waitfact_process *p)
{
	size_t at = 0;
	return p->n_threads > 1 && next_client(f, p->pid, &at) != NULL;
}

/* True: somebody waits at the other end of this socket. */
static bool is_waited_at(const struct waitfacts *f, pid_t pid, uint64_t inode)
{
	const struct waitfact *fact;
	for (size_t at = 0; (fact = next_client(f, pid, &at)) != NULL;)
		if (fact->peer_id == inode)
			return true;
	return false;
}

struct hands {
	const struct world *w;
	const struct waitfacts *facts;
	struct procview *v;
	struct pyslots_reader *slots;
	struct waithint found[PYSOCK_MOST];
	size_t n;
};

static void hands_of(struct hands *x, pid_t tid, const struct pysock *s)
{
	struct fd_link link;
	char text[64];
	x->n = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (fd_link_read(x->w, x->v->via, s->fd[i], &link, text, sizeof(text)) != 0 ||
		    link.kind != FD_SOCKET || !is_waited_at(x->facts, x->v->pid, link.inode))
			continue;
		x->found[x->n++] =
			(struct waithint){.kind = WAITHINT_HAND, .pid = x->v->pid, .tid = tid, .id = link.inode};
	}
}

/* What the thread has in hand as its frames are read once. *ret_still: it has not run meanwhile. */
static int hands_look(struct hands *x, const struct pythread *t, bool *ret_still)
{
	char token[STANDSTILL_TOKEN];
	struct threadwait call;
	struct pystack stack;
	struct pysock sock;
	x->n = 0;
	const bool stood = standstill_token(x->w, x->v->via, t->tid, token, &call);
	int e = pystacks_read(x->v->stacks, t, false, &stack);
	if (e == 0)
		e = pysock_in_hand(x->slots, stack.frames, stack.n, &sock);
	*ret_still = false;
	if (e)
		return e < 0 || e == WORLD_GONE || e == WORLD_DENIED ? e : 0;
	hands_of(x, t->tid, &sock);
	*ret_still = stood && (x->n == 0 || !standstill_moved(x->w, x->v->via, t->tid, token));
	return 0;
}

/*
 * Reads a thread. One that works with short naps in between has run at most looks: what it has in hand is then what two
 * looks in a row say alike, so that it is not taken for one that has no part in the wait.
 */
static int hands_thread_read(struct hands *x, const struct pythread *t)
{
	uint64_t before[PYSOCK_MOST];
	size_t n_before = 0;
	bool still = false;
	x->n = 0;
	for (int i = 0; t->tid > 0 && i < LOOKS_MOST; i++) {
		int e = hands_look(x, t, &still);
		if (e || still)
			return e;
		bool alike = x->n > 0 && x->n == n_before;
		for (size_t k = 0; k < x->n; k++) {
			alike = alike && before[k] == x->found[k].id;
			before[k] = x->found[k].id;
		}
		if (alike)
			return 0;
		n_before = x->n;
	}
	x->n = 0;
	return 0;
}

int waithands_read(const struct world *w, const struct waitfacts *f, struct procview *v, struct waithint **hint,
		   size_t *n_hints, size_t *cap_hints)
{
	const struct pythread *py = NULL;
	struct pyobjs objs;
	size_t n = 0;
	if (!v->has_python || !v->stacks || !pyobjs_init(&v->rt, &v->remote, &objs))
		return 0;
	int e = procview_python_threads(v, &py, &n);
	if (e)
		return e < 0 || e == WORLD_GONE || e == WORLD_DENIED ? e : 0;
	cleanup(pyslots_freep) struct pyslots_reader *slots = pyslots_new(&objs);
	struct hands x = {.w = w, .facts = f, .v = v, .slots = slots};
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < MIN(n, (size_t)THREADS_MOST) && e == 0; i++) {
		e = hands_thread_read(&x, &py[i]);
		if (e == 0 && vec_room(hint, cap_hints, *n_hints + x.n) < 0)
			return -ENOMEM;
		for (size_t k = 0; e == 0 && k < x.n; k++)
			(*hint)[(*n_hints)++] = x.found[k];
	}
	return e;
}
