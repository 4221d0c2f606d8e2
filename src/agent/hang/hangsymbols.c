#include "agent/hang/hangsymbols.h"

#include "base/heap.h"
#include "sense/proc/procfile.h"

static const uint64_t kept_ns = 10 * NS_PER_S;
/* What the files of one user's programs may take; the service has 256 MiB for everything. */
static const struct natives_limits most = {.symbols = 2 * 1024 * 1024,
					   .lines = {.memory_bytes = 64 * MIB, .cpu_s = 5}};

struct natives *hangsymbols_of(struct hangsymbols *s, const struct world *w, pid_t pid)
{
	struct foreign_user user;
	s->used_ns = w->mono_ns();
	if (pid <= 0 || procfile_user(w, pid, &user) != 0)
		return NULL;
	for (size_t i = 0; i < s->n; i++)
		if (s->of[i].uid == user.uid)
			return s->of[i].natives;
	struct natives *fresh = s->n < HANGSYMBOLS_USERS ? natives_new() : NULL;
	if (!fresh)
		return NULL;
	natives_limit(fresh, &most);
	s->of[s->n].uid = user.uid;
	s->of[s->n++].natives = fresh;
	return fresh;
}

uint64_t hangsymbols_rest(struct hangsymbols *s, uint64_t now_ns, bool busy)
{
	if (s->used_ns == 0)
		return UINT64_MAX;
	if (busy)
		s->used_ns = now_ns;
	if (now_ns - s->used_ns < kept_ns)
		return s->used_ns + kept_ns;
	for (size_t i = 0; i < s->n; i++)
		s->of[i].natives = natives_free(s->of[i].natives);
	s->n = 0;
	s->used_ns = 0;
	heap_give_back();
	return UINT64_MAX;
}
