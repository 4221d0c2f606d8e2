#include "agent/hang/hangrefused.h"

#include <string.h>

#include "agent/memory/ownroom.h"
#include "base/buf.h"
#include "sense/net/refused.h"

struct hangrefused {
	const struct world *w;
	struct refused *bpf; /* NULL: not loaded yet, or not permitted */
	bool tried, on;
	struct refused_row row[REFUSED_ROWS];
	size_t n_rows; /* of the last take */
};

struct hangrefused *hangrefused_new(const struct world *w)
{
	struct hangrefused *h = calloc(1, sizeof(*h));
	if (h)
		h->w = w;
	return h;
}

void hangrefused_step(struct hangrefused *h, bool suspected, bool stirs)
{
	char why[200];
	if (!h || suspected == h->on || (suspected && !stirs))
		return;
	if (suspected && !h->tried && !ownroom_has(h->w, OWNROOM_BPF_BYTES))
		return;
	h->on = suspected;
	if (!suspected) {
		if (h->bpf)
			refused_off(h->bpf);
		return;
	}
	if (!h->tried && refused_open(h->w, &h->bpf, why, sizeof(why)) != 0)
		h->bpf = NULL;
	h->tried = true;
	if (h->bpf && refused_on(h->bpf) < 0) /* attaching is forbidden, though loading is not */
		h->bpf = refused_free(h->bpf);
}

/* The process of the job that a row is about: who tried, or who had started it; NULL: none. */
static const struct hangprocs_member *member_of(const struct hangprocs *c, const struct refused_row *r)
{
	const struct hangprocs_member *m = hangprocs_find(c, r->pid);
	return m ? m : hangprocs_find(c, r->parent);
}

static int by_attempts(const void *a, const void *b)
{
	const struct hang_refused *x = a, *y = b;
	return (x->n < y->n) - (x->n > y->n);
}

/* Attempts of one process at one address are one, whichever of its children made them. */
static struct hang_refused *same_of(struct hang_refused *of, size_t n, pid_t pid, const char *address)
{
	for (size_t i = 0; i < n; i++)
		if (of[i].pid == pid && strcmp(of[i].address, address) == 0)
			return &of[i];
	return NULL;
}

size_t hangrefused_take(struct hangrefused *h, const struct hangprocs *procs, struct hang_refused *ret, size_t cap)
{
	char address[sizeof(ret->address)];
	size_t n = 0;
	if (!h)
		return 0;
	if (!h->on || !h->bpf || refused_take(h->bpf, h->row, REFUSED_ROWS, &h->n_rows) < 0)
		h->n_rows = 0;
	for (size_t i = 0; i < h->n_rows; i++) {
		const struct refused_row *r = &h->row[i];
		const struct hangprocs_member *m = r->n > 0 ? member_of(procs, r) : NULL;
		if (!m)
			continue;
		refused_format(r, address, sizeof(address));
		struct hang_refused *of = same_of(ret, n, m->pid, address);
		if (!of && n == cap)
			continue;
		if (!of) {
			of = &ret[n++];
			*of = (struct hang_refused){.rank = m->who.rank, .pid = m->pid, .main = m->main};
			TEXT_COPY(of->address, address);
		}
		of->n += r->n;
		if (r->last_ns >= of->last_ns)
			of->error = r->error;
		of->last_ns = MAX(of->last_ns, r->last_ns);
	}
	if (n)
		qsort(ret, n, sizeof(*ret), by_attempts);
	return n;
}

static struct hang_asked *asked_of(struct hang_asked *of, size_t n, pid_t pid, uint16_t port)
{
	for (size_t i = 0; i < n; i++)
		if (of[i].pid == pid && of[i].port == port)
			return &of[i];
	return NULL;
}

size_t hangrefused_asked(const struct hangrefused *h, const struct hangprocs *procs, struct hang_asked *ret,
			 size_t cap)
{
	size_t n = 0;
	for (size_t i = 0; h && i < h->n_rows; i++) {
		const struct refused_row *r = &h->row[i];
		const struct hangprocs_member *m = r->made > 0 ? member_of(procs, r) : NULL;
		if (!m)
			continue;
		struct hang_asked *of = asked_of(ret, n, m->pid, r->port);
		if (!of && n == cap)
			continue;
		if (!of) {
			of = &ret[n++];
			*of = (struct hang_asked){.pid = m->pid, .port = r->port};
		}
		of->n += r->made;
		of->last_ns = MAX(of->last_ns, r->last_ns);
	}
	return n;
}
