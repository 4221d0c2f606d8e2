/* Whether the holders of something are all there are: the argument is in fdholders.h. */
#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "sense/wait/fdholders_parts.h"

enum { SEALED_UNKNOWN, SEALED_NO, SEALED_YES };

/* Generations that are climbed. */
#define CLIMB_MAX 256

/* A number for the control groups of a process; 0 if they cannot be read. */
static uint64_t group_hash(const struct world *w, struct kin *k)
{
	char path[32], text[4096];
	size_t len;
	if (k->group_hash)
		return k->group_hash;
	TEXT_FORMAT(path, "%d/cgroup", (int)k->pid);
	if (file_read_at(w->proc_fd, path, text, sizeof(text), &len) != 0 || len == 0)
		return 0;
	k->group_hash = hash_mix(hash_bytes(HASH_START, text, len)) | 1;
	return k->group_hash;
}

/* True if a process that could not be listed may have inherited what `top` or its parent has. */
static bool may_share(const struct world *w, const struct kinship *k, struct kin *stranger, struct kin *top,
		      const struct kin *parent)
{
	if (stranger->wanted || kinship_descends(k, stranger->pid, parent->pid))
		return true;
	if (stranger->start_ticks < parent->start_ticks)
		return false;
	if (stranger->session == top->session || stranger->session == parent->session)
		return true;
	const uint64_t theirs = group_hash(w, stranger);
	return theirs == 0 || theirs == group_hash(w, top);
}

static bool top_is_sealed(const struct world *w, const struct fdsearch *s, struct kinship *k, struct kin *top)
{
	if (top->sealed != SEALED_UNKNOWN)
		return top->sealed == SEALED_YES;
	top->sealed = SEALED_NO;
	const struct kin *parent = kinship_find(k, top->ppid);
	if (!parent || parent->pid == 1 || !parent->listed)
		return false;
	for (size_t i = 0; i < s->n_denied; i++) {
		struct kin *stranger = kinship_find(k, s->denied[i]);
		if (!stranger || may_share(w, k, stranger, top, parent))
			return false;
	}
	top->sealed = SEALED_YES;
	return true;
}

static bool holds_any(const struct fdsearch *s, const struct fdobject *o, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++) {
		size_t n_holders;
		const struct fdheld *h = fdsearch_holders(s, o[i], &n_holders);
		for (size_t low = 0, high = n_holders; low < high;) {
			const size_t mid = low + (high - low) / 2;
			if (h[mid].pid == pid)
				return true;
			if (h[mid].pid < pid)
				low = mid + 1;
			else
				high = mid;
		}
	}
	return false;
}

static bool holder_is_sealed(const struct world *w, const struct fdsearch *s, struct kinship *k,
			     const struct fdobject *o, size_t n, pid_t pid)
{
	struct kin *top = kinship_find(k, pid);
	if (!top || top->outward)
		return false;
	for (size_t i = 0; i < CLIMB_MAX; i++) {
		struct kin *parent = kinship_find(k, top->ppid);
		if (!parent || !holds_any(s, o, n, parent->pid))
			return top_is_sealed(w, s, k, top);
		top = parent;
	}
	return false;
}

static bool has_ring(const struct fdsearch *s, pid_t pid)
{
	for (size_t low = 0, high = s->n_rings; low < high;) {
		const size_t mid = low + (high - low) / 2;
		if (s->ring[mid] == pid)
			return true;
		if (s->ring[mid] < pid)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

bool fdsearch_is_whole(const struct world *w, const struct fdsearch *s, struct kinship *k, const struct fdobject *o,
		       size_t n)
{
	const bool all_listed = s->n_denied == 0 && !k->hidden;
	size_t found = 0;
	/* Where every process was listed, a socket that none of them has is on its way itself. */
	if (s->cut || s->in_flight || s->registered || (all_listed && s->suspect_unknown))
		return false;
	for (size_t i = 0; i < n; i++) {
		size_t n_holders;
		if (o[i].class == FDOBJECT_EVENTFD && s->registered_events)
			return false;
		const struct fdheld *h = fdsearch_holders(s, o[i], &n_holders);
		for (size_t j = 0; j < n_holders; j++) {
			if (has_ring(s, h[j].pid) || (!all_listed && !holder_is_sealed(w, s, k, o, n, h[j].pid)))
				return false;
			found++;
		}
	}
	return found > 0;
}
