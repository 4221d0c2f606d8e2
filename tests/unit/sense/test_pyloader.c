#include "testing.h"

#include <fcntl.h>

#include "../../fuzz/pymemory.h"
#include "base/file.h"
#include "base/buf.h"
#include "sense/pylib/pyloader.h"

/* What tests/tool/pywaits -r wrote of a stand-in that waits for batch 5, whose worker 1 has it. */
static void batch_of(const char *version, bool cut)
{
	char path[512];
	cleanup(freep) char *text = NULL;
	size_t len = 0;
	static char name[] = "Iterator._try_get_data", file[] = "/x/dataloader.py";
	const struct pycode known = {.name = name, .file = file};
	struct pyrt rt = {};
	struct pyloader found;
	TEXT_FORMAT(path, "%s/../fuzz/corpus/pyloader/%s", FIXTURES, version);
	assert_int_equal(file_slurp(AT_FDCWD, path, 1 << 20, &text, &len), 0);
	struct pymemory in = {.data = (const uint8_t *)text, .size = cut ? len - 200 : len};
	assert_true(in.size > PYMEMORY_HEAD && pymemory_layout(&in, &rt));
	struct remote r = {.pid = 1, .mem_fd = -1, .proc_fd = -1, .ops = &pymemory_ops, .ctx = &in};
	const struct pyframe frame = {.addr = u64_at(in.data + 2), .code = u64_at(in.data + 10), .known = &known};
	assert_int_equal(pyloader_awaited(&rt, &r, &frame, 1, &found), 0);
	assert_true(cut ? found.worker == 0 : found.worker > 0);
	assert_int_equal(found.batch, cut ? 0 : 5);
}

static const char *const versions[] = {"3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15"};

static void the_worker_of_the_next_batch_is_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		batch_of(versions[i], false);
}

static void nothing_is_told_where_memory_is_missing(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		batch_of(versions[i], true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worker_of_the_next_batch_is_read),
		cmocka_unit_test(nothing_is_told_where_memory_is_missing),
	};
	return cmocka_run_group_tests_name("sense/pyloader", tests, NULL, NULL);
}
