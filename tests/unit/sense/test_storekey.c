/* Keys of PyTorch's store on a stack that looks as libtorch's does, in memory of this process. */
#include "testing.h"
#include "world_fixture.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "sense/framework/storekey.h"

/* A page as a stack, one for what lies beside it, and one as code of a library. */
struct stage {
	uint64_t *stack;
	char *heap, *code;
	size_t heap_used;
	char library[64];
};

static void *page_new(void)
{
	void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(p != MAP_FAILED);
	return p;
}

static void stage_begin(struct stage *s, const char *library)
{
	*s = (struct stage){.stack = page_new(), .heap = page_new(), .code = page_new()};
	TEXT_COPY(s->library, library);
	s->stack[5] = (uint64_t)s->code + 100; /* where the system call's wrapper returns to */
}

static void stage_end(struct stage *s)
{
	munmap(s->stack, 8192);
	munmap(s->heap, 8192);
	munmap(s->code, 8192);
}

static void *heap_take(struct stage *s, size_t n)
{
	void *p = s->heap + s->heap_used;
	s->heap_used += (n + 31) / 32 * 32;
	assert_true(s->heap_used <= 8192);
	return p;
}

/* Puts a std::string at these words. */
static void string_put(struct stage *s, uint64_t *at, const char *text)
{
	size_t n = strlen(text);
	at[1] = n;
	if (n < 16) {
		at[0] = (uint64_t)&at[2];
		memcpy(&at[2], text, n + 1);
		return;
	}
	at[0] = (uint64_t)memcpy(heap_take(s, n + 1), text, n + 1);
	at[2] = n;
}

/* Puts a std::vector of them there. */
static void strings_put(struct stage *s, uint64_t *at, const char *const *text, size_t n)
{
	uint64_t *of = heap_take(s, n * 32);
	for (size_t i = 0; i < n; i++)
		string_put(s, of + i * 4, text[i]);
	at[0] = (uint64_t)of;
	at[1] = at[2] = (uint64_t)(of + n * 4);
}

/* Adds the rows of the three pages in the order of their addresses. */
static void rows_write(const struct stage *s, struct buf *b)
{
	const char *page[] = {(const char *)s->stack, s->heap, s->code};
	for (size_t i = 0; i < ARRAY_SIZE(page); i++)
		for (size_t k = i + 1; k < ARRAY_SIZE(page); k++)
			if (page[k] < page[i]) {
				const char *other = page[i];
				page[i] = page[k];
				page[k] = other;
			}
	for (size_t i = 0; i < ARRAY_SIZE(page); i++) {
		bool code = page[i] == s->code;
		buf_printf(b, "%lx-%lx %s 00000000 08:01 %d %s\n", (unsigned long)page[i],
			   (unsigned long)page[i] + 8192, code ? "r-xp" : "rw-p", code ? 77 : 0,
			   code ? s->library : "");
	}
}

static int look(const struct stage *s, struct storekey *ret)
{
	struct world w = live_world();
	cleanup(maps_done) struct maps m = {.n = 0};
	char text[400];
	struct buf b = BUF_ON(text);
	struct remote r;
	buf_reset(&b);
	rows_write(s, &b);
	assert_int_equal(maps_parse(span_of(text), &m), 0);
	assert_int_equal(m.n, 3);
	remote_open(&w, getpid(), &r);
	int e = storekey_read(&m, &r, (uint64_t)s->stack, ret);
	remote_done(&r);
	fixture_close(&w);
	return e;
}

static void the_innermost_string_is_the_key(void **state)
{
	(void)state;
	struct stage s;
	struct storekey k;
	stage_begin(&s, "/usr/lib/libtorch_cpu.so");
	string_put(&s, s.stack + 200, "/default_pg/0//vocab/size");
	string_put(&s, s.stack + 260, "default_pg/0//vocab/size");
	string_put(&s, s.stack + 310, "vocab/size"); /* short: it lies in the object itself */
	string_put(&s, s.stack + 400, "gloo"); /* another string of an outer frame */
	assert_int_equal(look(&s, &k), 0);
	assert_string_equal(k.key, "/default_pg/0//vocab/size");
	assert_string_equal(k.given, "vocab/size");
	assert_int_equal(k.n, 1);
	stage_end(&s);
}

static void several_keys_are_counted(void **state)
{
	(void)state;
	static const char *const whole[] = {"/job/ready/0", "/job/ready/1", "/job/ready/2-with-a-long-name"};
	static const char *const given[] = {"ready/0", "ready/1", "ready/2-with-a-long-name"};
	struct stage s;
	struct storekey k;
	stage_begin(&s, "/opt/torch/lib/libtorch_cpu.so");
	strings_put(&s, s.stack + 100, whole, 3);
	strings_put(&s, s.stack + 180, given, 3);
	assert_int_equal(look(&s, &k), 0);
	assert_string_equal(k.key, "/job/ready/0");
	assert_string_equal(k.given, "ready/0");
	assert_int_equal(k.n, 3);
	stage_end(&s);
}

static void a_string_alone_is_no_key(void **state)
{
	(void)state;
	struct stage s;
	struct storekey k;
	stage_begin(&s, "/usr/lib/libtorch_cpu.so");
	assert_int_equal(look(&s, &k), STOREKEY_NONE);
	string_put(&s, s.stack + 200, "/left/by/an/earlier/call");
	assert_int_equal(look(&s, &k), STOREKEY_NONE);
	string_put(&s, s.stack + 300, "something/else");
	assert_int_equal(look(&s, &k), STOREKEY_NONE);
	stage_end(&s);
}

static void other_libraries_have_no_store(void **state)
{
	(void)state;
	struct stage s;
	struct storekey k;
	stage_begin(&s, "/usr/lib/libpq.so.5");
	string_put(&s, s.stack + 200, "/job/ready");
	string_put(&s, s.stack + 300, "ready");
	assert_int_equal(look(&s, &k), STOREKEY_NONE);
	stage_end(&s);
}

static void what_is_no_string_is_passed_over(void **state)
{
	(void)state;
	struct stage s;
	struct storekey k;
	stage_begin(&s, "/usr/lib/libtorch_cpu.so");
	uint64_t *at = s.stack + 100;
	string_put(&s, at, "/with\x1b[2Jescape");
	string_put(&s, s.stack + 110, "escape");
	s.stack[120] = 8; /* points nowhere */
	s.stack[121] = 20;
	s.stack[122] = 30;
	s.stack[130] = (uint64_t)s.heap; /* longer than its room */
	s.stack[131] = 100;
	s.stack[132] = 50;
	s.stack[140] = (uint64_t)s.heap; /* a vector that ends before it begins, and one of half a string */
	s.stack[141] = (uint64_t)s.heap - 32;
	s.stack[142] = (uint64_t)s.heap + 64;
	s.stack[150] = (uint64_t)s.heap;
	s.stack[151] = s.stack[152] = (uint64_t)s.heap + 48;
	string_put(&s, s.stack + 200, "/job/ready");
	string_put(&s, s.stack + 300, "ready");
	/* "escape" is the innermost string; no later one is its end */
	assert_int_equal(look(&s, &k), STOREKEY_NONE);
	memset(s.stack + 110, 0, 32);
	assert_int_equal(look(&s, &k), 0);
	assert_string_equal(k.key, "/job/ready");
	stage_end(&s);
}

/* Any bytes are looked through in bounded time, and nothing beside the stack is trusted. */
static void random_stacks_do_no_harm(void **state)
{
	(void)state;
	struct stage s;
	struct storekey k;
	uint64_t seed = 88172645463325252ull;
	stage_begin(&s, "/usr/lib/libtorch_cpu.so");
	for (int round = 0; round < 200; round++) {
		for (size_t i = 6; i < 1024; i++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			uint64_t base = seed % 3 == 0 ? (uint64_t)s.stack : seed % 3 == 1 ? (uint64_t)s.heap : 0;
			s.stack[i] = base + (seed >> 20) % (base ? 8192 : 64);
		}
		int e = look(&s, &k);
		assert_true(e == 0 || e == STOREKEY_NONE);
	}
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_innermost_string_is_the_key),  cmocka_unit_test(several_keys_are_counted),
		cmocka_unit_test(a_string_alone_is_no_key),	    cmocka_unit_test(other_libraries_have_no_store),
		cmocka_unit_test(what_is_no_string_is_passed_over), cmocka_unit_test(random_stacks_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
