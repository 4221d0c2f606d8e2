#include "agent/scratch_fixture.h"

#include <fcntl.h>

#include "sense/framework/rayoom.h"

#define BLOCK(pid, name)                                                                                               \
	"[x] (raylet) node_manager.cc:3199: Killing 1 worker(s), kill details: Memory on the node (IP: 1.2.3.4, "      \
	"ID: a) was 2.00GB used / 4.00GB limit (0.5)\n"                                                                \
	"Selected to kill: (Task: job ID=01000000, task name=" name ", pid=" pid ", actual memory used=1.21GB, "       \
	"worker ID=ab)\n"

static struct killer_line lines[4];

static void add(const char *text)
{
	int fd = open(scratch_path("raylet.out"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static struct raylogs logs_of_scratch(void)
{
	struct raylogs l = {.fd = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			    .user = {.uid = geteuid(), .gid = getegid()}};
	assert_true(l.fd >= 0);
	return l;
}

static size_t taken(const struct raylogs *l, struct rayoom *o)
{
	return rayoom_read(l, o, 5000, lines, ARRAY_SIZE(lines));
}

static void what_was_written_before_the_first_look_is_not_told(void **state)
{
	(void)state;
	cleanup(rayoom_done) struct rayoom o = RAYOOM_NONE;
	cleanup(raylogs_done) struct raylogs l = logs_of_scratch();
	assert_int_equal(taken(&l, &o), 0); /* there is no log yet */
	add(BLOCK("7", "old"));
	assert_int_equal(taken(&l, &o), 0);
	add(BLOCK("8", "new one"));
	assert_int_equal(taken(&l, &o), 1);
	assert_true(lines[0].killer == KILLER_RAY && lines[0].pid == 8 && lines[0].time_unix_ms == 5000);
	assert_string_equal(lines[0].name, "new one");
	assert_int_equal(taken(&l, &o), 0);
}

static void a_line_that_is_not_complete_waits(void **state)
{
	(void)state;
	cleanup(rayoom_done) struct rayoom o = RAYOOM_NONE;
	cleanup(raylogs_done) struct raylogs l = logs_of_scratch();
	const char *block = BLOCK("9", "f");
	char head[256];
	add("begin\n");
	assert_int_equal(taken(&l, &o), 0);
	text_format(head, sizeof(head), "%.200s", block);
	add(head);
	assert_int_equal(taken(&l, &o), 0);
	add(block + 200);
	assert_int_equal(taken(&l, &o), 1);
	assert_int_equal(lines[0].pid, 9);
}

/* More kills than there is room for, and lines without an end. */
static void much_at_once_is_read_in_parts(void **state)
{
	(void)state;
	cleanup(rayoom_done) struct rayoom o = RAYOOM_NONE;
	cleanup(raylogs_done) struct raylogs l = logs_of_scratch();
	char *long_line = calloc(1, 200001);
	size_t n = 0;
	add("begin\n");
	assert_int_equal(taken(&l, &o), 0);
	assert_non_null(long_line);
	memset(long_line, 'x', 200000);
	add(long_line);
	free(long_line);
	add("\n");
	for (int i = 0; i < 9; i++)
		add(BLOCK("10", "g"));
	for (int i = 0; i < 12; i++)
		n += taken(&l, &o);
	assert_true(n >= 4 && n <= 9); /* of too many at one look the newest are told */
	assert_int_equal(taken(&l, &o), 0);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCRATCH(what_was_written_before_the_first_look_is_not_told),
		IN_SCRATCH(a_line_that_is_not_complete_waits),
		IN_SCRATCH(much_at_once_is_read_in_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
