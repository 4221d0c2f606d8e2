#include "sense/pylib/pysock.h"

#include <limits.h>
#include <string.h>

#define BODY_AT 16 /* Include/object.h: what is behind the reference count and the type */

static void fd_add(struct pysock *to, uint64_t fd)
{
	bool known = fd > INT_MAX || to->n == ARRAY_SIZE(to->fd);
	for (size_t i = 0; i < to->n && !known; i++)
		known = to->fd[i] == (int)fd;
	if (!known)
		to->fd[to->n++] = (int)fd;
}

/* True: the object is a socket or a connection. */
static bool connection_add(struct pyobjs *o, uint64_t object, struct pysock *to)
{
	const struct pyobj_type *t;
	uint32_t fd = 0;
	uint64_t handle = 0, number = 0;
	if (pyobj_type(o, object, &t) != 0)
		return false;
	if (strcmp(t->name, "socket") == 0 || strcmp(t->name, "SSLSocket") == 0) {
		if (pyobj_get(o, object + BODY_AT, &fd, sizeof(fd)) == 0)
			fd_add(to, fd);
		return true;
	}
	if (strcmp(t->name, "Connection") != 0)
		return false;
	if (pyobj_attr(o, object, "_handle", &handle) == 0 && pyobj_index(o, handle, &number) == 0)
		fd_add(to, number);
	return true;
}

/* A variable that an inner function uses is in a cell. */
static uint64_t content_of(struct pyobjs *o, uint64_t object)
{
	struct pyobj_child child[PYOBJ_CHILDREN];
	size_t n = 0;
	bool held = pyobj_is(o, object, PYOBJ_CELL) && pyobj_children(o, object, child, &n) == 0 && n == 1;
	return held ? child[0].object : object;
}

static void variable_look(struct pyobjs *o, uint64_t object, struct pysock *to)
{
	struct pyobj_child child[PYOBJ_CHILDREN];
	size_t n = 0;
	object = content_of(o, object);
	if (connection_add(o, object, to) || pyobj_children(o, object, child, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (child[i].name)
			connection_add(o, child[i].object, to);
}

int pysock_in_hand(struct pyslots_reader *r, const struct pyframe *frames, size_t n, struct pysock *ret)
{
	cleanup(freep) struct pyslots *s = malloc(sizeof(*s));
	*ret = (struct pysock){.n = 0};
	if (!s)
		return -ENOMEM;
	for (size_t i = 0; i < MIN(n, (size_t)PYSOCK_FRAMES); i++) {
		bool counted;
		int e = pyslots_read(r, &frames[i], false, s);
		if (e < 0 || e == WORLD_GONE || e == WORLD_DENIED)
			return e;
		for (size_t k = 0; e == 0 && k < s->n_vars; k++) {
			uint64_t object = pyslots_object(r->objs, s->slot[k], &counted);
			if (object)
				variable_look(r->objs, object, ret);
		}
	}
	return 0;
}
