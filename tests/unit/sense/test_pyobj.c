#include "memory_fixture.h"

#include "sense/python/pyobj.h"

#define HEAP_TYPE (UINT64_C(1) << 9)

static uint64_t type_new(struct memory *m, const char *name, uint64_t flags)
{
	uint64_t text, addr;
	memcpy(memory_add(m, 64, &text), name, strlen(name) + 1);
	unsigned char *b = memory_add(m, 512, &addr);
	put(b + m->rt.off.type.name, text, 8);
	put(b + m->rt.off.type.flags, flags, 8);
	put(b + m->rt.off.type.flags + 40, 24, 8); /* tp_weaklistoffset */
	put(b + m->rt.off.type.basicsize, 40, 8);
	return addr;
}

static unsigned char *object_new(struct memory *m, uint64_t type, uint64_t refs, uint64_t *ret_addr)
{
	unsigned char *b = memory_add(m, 128, ret_addr);
	put(b, refs, 8);
	put(b + 8, type, 8);
	return b;
}

static void kinds_are_told_by_the_type(void **state)
{
	(void)state;
	struct memory *m = memory_new(12);
	struct pyobjs o;
	const struct pyobj_type *t;
	uint64_t lock, own, dead;
	assert_true(pyobjs_init(&m->rt, &m->remote, &o));
	uint64_t type = type_new(m, "_thread.lock", HEAP_TYPE);
	object_new(m, type, 1, &lock);
	object_new(m, type, 0, &dead);
	object_new(m, type_new(m, "cell", HEAP_TYPE), 1, &own);
	assert_true(pyobj_is(&o, lock, PYOBJ_LOCK));
	assert_false(pyobj_is(&o, dead, PYOBJ_LOCK));
	assert_true(pyobj_is(&o, own, PYOBJ_OTHER)); /* a class in Python of that name */
	assert_int_equal(pyobj_type(&o, lock, &t), 0);
	assert_string_equal(t->name, "lock");
	assert_int_equal(t->size, 40);
	assert_int_equal(pyobj_type(&o, lock + 1, &t), REMOTE_FAULT);
	assert_int_equal(pyobj_type(&o, 0x999000, &t), REMOTE_FAULT);
	m->rt.free_threaded = true;
	assert_false(pyobjs_init(&m->rt, &m->remote, &o));
	free(m);
}

static void references_are_counted_unless_the_object_is_immortal(void **state)
{
	(void)state;
	struct memory *m = memory_new(12);
	struct pyobjs o;
	uint64_t few, immortal, refs = 0;
	bool weak = true;
	assert_true(pyobjs_init(&m->rt, &m->remote, &o));
	uint64_t type = type_new(m, "_thread.lock", HEAP_TYPE);
	unsigned char *b = object_new(m, type, 3, &few);
	object_new(m, type, UINT32_MAX, &immortal);
	assert_int_equal(pyobj_refs(&o, few, &refs), 0);
	assert_int_equal(refs, 3);
	assert_int_equal(pyobj_refs(&o, immortal, &refs), 0);
	assert_int_equal(refs, UINT64_MAX);
	assert_int_equal(pyobj_weak(&o, few, &weak), 0);
	assert_false(weak);
	put(b + 24, 0x1234, 8);
	assert_int_equal(pyobj_weak(&o, few, &weak), 0);
	assert_true(weak);
	free(m);
}

static void a_deque_of_one_block_has_its_items(void **state)
{
	(void)state;
	struct memory *m = memory_new(12);
	struct pyobjs o;
	struct pyobj_child child[PYOBJ_CHILDREN];
	uint64_t deque, block;
	size_t n = 9;
	assert_true(pyobjs_init(&m->rt, &m->remote, &o));
	unsigned char *b = object_new(m, type_new(m, "collections.deque", HEAP_TYPE), 1, &deque);
	unsigned char *items = memory_add(m, 8 * 66, &block);
	put(items + 8 + 8 * 31, 0x7000, 8);
	put(items + 8 + 8 * 32, 0x8000, 8);
	const uint64_t head[] = {2, block, block, 31};
	memcpy(b + 16, head, sizeof(head));
	assert_int_equal(pyobj_children(&o, deque, child, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(child[1].object, 0x8000);
	put(b + 16, 34, 8); /* more than are left in the block */
	assert_int_equal(pyobj_children(&o, deque, child, &n), 0);
	assert_int_equal(n, 0);
	free(m);
}

static void reads_are_limited(void **state)
{
	(void)state;
	struct memory *m = memory_new(12);
	struct pyobjs o;
	uint64_t object, refs = 0;
	assert_true(pyobjs_init(&m->rt, &m->remote, &o));
	object_new(m, type_new(m, "cell", 0), 1, &object);
	o.reads_left = 1;
	assert_int_equal(pyobj_refs(&o, object, &refs), 0);
	assert_int_equal(pyobj_refs(&o, object, &refs), REMOTE_FAULT);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_are_told_by_the_type),
		cmocka_unit_test(references_are_counted_unless_the_object_is_immortal),
		cmocka_unit_test(a_deque_of_one_block_has_its_items),
		cmocka_unit_test(reads_are_limited),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
