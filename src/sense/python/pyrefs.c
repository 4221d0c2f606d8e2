#include "sense/python/pyrefs.h"

#include <string.h>

#include "base/vec.h"

#define REFS_MAX 4096 /* references of frames that are looked at */
#define NODES_MAX 32 /* objects in question, and those on the way to them */
#define ROUNDS_MAX 4 /* objects on the way, one behind another */

struct node {
	uint64_t object;
	uint64_t own; /* references that are accounted for */
};

struct pyrefs {
	struct pyslots_reader *reader;
	uint64_t *refs; /* objects that slots refer to, sorted; each as often as it is referred to */
	size_t n, cap;
	struct pyslots inner; /* of the innermost frame */
	struct node node[NODES_MAX];
	size_t n_nodes;
};

struct pyrefs *pyrefs_free(struct pyrefs *p)
{
	if (p)
		free(p->refs);
	free(p);
	return NULL;
}

static int pyrefs_frame_add(struct pyrefs *p, const struct pyslots *s)
{
	for (size_t i = 0; i < s->n_live && p->n < REFS_MAX; i++) {
		bool counted;
		uint64_t object = pyslots_object(p->reader->objs, s->slot[i], &counted);
		if (!counted || object < 4096)
			continue;
		if (vec_room(&p->refs, &p->cap, p->n + 1) < 0)
			return -ENOMEM;
		p->refs[p->n++] = object;
	}
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

int pyrefs_new(struct pyslots_reader *r, const struct pyframe *frames, size_t n, struct pyrefs **ret)
{
	cleanup(pyrefs_freep) struct pyrefs *p = calloc(1, sizeof(*p));
	cleanup(freep) struct pyslots *s = calloc(1, sizeof(*s));
	if (!p || !s)
		return -ENOMEM;
	p->reader = r;
	for (size_t i = 0; i < n; i++) {
		int e = pyslots_read(r, &frames[i], true, s);
		if (e == REMOTE_FAULT && i > 0)
			continue; /* its references then count as somebody else's */
		if (e == 0)
			e = pyrefs_frame_add(p, s);
		if (e)
			return e;
		if (i == 0)
			p->inner = *s;
	}
	if (p->n)
		qsort(p->refs, p->n, sizeof(*p->refs), by_value);
	*ret = take(&p);
	return 0;
}

static struct node *node_find(struct pyrefs *p, uint64_t object)
{
	for (size_t i = 0; i < p->n_nodes; i++)
		if (p->node[i].object == object)
			return &p->node[i];
	return NULL;
}

static bool pyrefs_node_add(struct pyrefs *p, uint64_t object)
{
	if (node_find(p, object))
		return true;
	if (p->n_nodes == NODES_MAX)
		return false;
	p->node[p->n_nodes++] = (struct node){.object = object};
	return true;
}

/* Objects of frames that lead to those in question: a bound __exit__, a closure's cell, an object around a queue. */
static int ways_add(struct pyrefs *p, bool *ret_more)
{
	struct pyobj_child child[PYOBJ_CHILDREN];
	*ret_more = false;
	for (size_t i = 0; i < p->n; i++) {
		size_t n = 0;
		if ((i > 0 && p->refs[i] == p->refs[i - 1]) || node_find(p, p->refs[i]))
			continue;
		int e = pyobj_children(p->reader->objs, p->refs[i], child, &n);
		if (e && e != REMOTE_FAULT)
			return e;
		for (size_t k = 0; e == 0 && k < n; k++) {
			if (!node_find(p, child[k].object))
				continue;
			if (!pyrefs_node_add(p, p->refs[i]))
				return REMOTE_FAULT;
			*ret_more = true;
			break;
		}
	}
	return 0;
}

static int own_count(struct pyrefs *p)
{
	struct pyobj_child child[PYOBJ_CHILDREN];
	for (size_t i = 0; i < p->n; i++) {
		struct node *node = node_find(p, p->refs[i]);
		if (node)
			node->own++;
	}
	for (size_t i = 0; i < p->n_nodes; i++) {
		size_t n = 0;
		int e = pyobj_children(p->reader->objs, p->node[i].object, child, &n);
		if (e)
			return e;
		for (size_t k = 0; k < n; k++) {
			struct node *node = node_find(p, child[k].object);
			if (node)
				node->own++;
		}
	}
	return 0;
}

/*
 * A thread that waits in `with lock:` has bound __enter__ and __exit__ of it. __enter__ is nowhere but in the
 * interpreter's own variables, __exit__ is on the stack up to 3.11 and in such a variable later.
 */
static int enter_count(struct pyrefs *p, uint64_t lock)
{
	uint8_t minor = p->reader->objs->rt->minor;
	struct node *node = node_find(p, lock);
	const struct pyslots *s = &p->inner;
	uint64_t exit = 0, self = 0;
	if (!node || !s->in_enter || s->n_live >= s->n)
		return 0;
	/* The manager's place is the first above the blocks around it, unless a loop's iterator stands there. */
	uint64_t slot = s->slot[s->n_live];
	if (minor >= 12) {
		node->own += slot == lock ? 2 : 0;
		return 0;
	}
	if (!pyobj_method_is(p->reader->objs, slot, PYOBJ_BUILTIN, "__exit__"))
		return 0;
	exit = slot;
	uint64_t refs = 0;
	int e = pyobj_u64(p->reader->objs, exit + 24, &self);
	if (e == 0)
		e = pyobj_refs(p->reader->objs, exit, &refs);
	if (e == 0 && self == lock && refs == 1)
		node->own += 2;
	return e;
}

int pyrefs_only_own(struct pyrefs *p, const uint64_t *objects, size_t n, uint64_t lock, bool *ret)
{
	bool more = true, weak = false;
	*ret = false;
	p->n_nodes = 0;
	for (size_t i = 0; i < n; i++)
		if (!pyrefs_node_add(p, objects[i]))
			return REMOTE_FAULT;
	for (int round = 0; round < ROUNDS_MAX && more; round++) {
		int e = ways_add(p, &more);
		if (e)
			return e;
	}
	int e = own_count(p);
	if (e == 0)
		e = enter_count(p, lock);
	for (size_t i = p->n_nodes; e == 0 && i-- > 0;) { /* from the outside in */
		uint64_t refs = 0;
		e = pyobj_refs(p->reader->objs, p->node[i].object, &refs);
		if (e == 0)
			e = pyobj_weak(p->reader->objs, p->node[i].object, &weak);
		if (e || weak || refs != p->node[i].own)
			return e;
	}
	*ret = e == 0;
	return e;
}
