/* The cause book asked about ranks that write into one file: whose an error is may not be known. */
#include "testing.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "agent/causegather.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

static char path[] = "/tmp/vigil-causeshared-XXXXXX";

static void ask(struct causegather *g, const struct causegather_want *want, struct causegather_result *ret,
		const char *more)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, more, strlen(more)), 0);
	close(fd);
	causegather_begin(g, want, ret);
	while (!causegather_step(g))
		(void)poll(NULL, 0, 5);
	assert_int_equal(causegather_finish(g, NULL), 0);
}

static void an_error_in_an_output_that_ranks_share_is_nobody_s(void **state)
{
	(void)state;
	const struct causegather_rank ranks[] = {{.rank = 0, .err = path}, {.rank = 1, .err = path}};
	const struct causegather_want want = {.ranks = ranks, .n_ranks = 2};
	struct world w = {.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), .sys_fd = -1, .cgroup_fd = -1,
			  .shm_fd = -1, .kmsg_fd = -1, .page_bytes = 4096, .ticks_per_s = 100, .mono_ns = clock_mono_ns,
			  .unix_ms = clock_unix_ms, .recorded = true};
	cleanup(causegather_freep) struct causegather *g = NULL;
	cleanup(freep) struct causegather_result *r = calloc(1, sizeof(*r));
	struct fault f = {.text = ""};
	int fd = mkstemp(path);
	assert_true(fd >= 0 && r);
	close(fd);
	if (causegather_new(&w, NULL, NULL, 0, &g, &f) != 0)
		fail_msg("%s", f.text);
	ask(g, &want, r, "Traceback (most recent call last):\n  File \"t.py\", line 3, in step\n"
			 "RuntimeError: expected 8 samples\n");
	assert_string_equal(r->error, "");
	assert_non_null(strstr(r->nobodys_error, "RuntimeError: expected 8 samples"));
	assert_string_equal(r->nobodys_source, "stderr");
	/* it was caught: steps come behind it */
	ask(g, &want, r, "step 7/10 loss 0.3\n");
	assert_string_equal(r->nobodys_error, "");
	(void)unlink(path);
	closep(&w.proc_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_in_an_output_that_ranks_share_is_nobody_s),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
