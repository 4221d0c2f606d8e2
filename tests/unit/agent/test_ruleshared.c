/* The cause book asked about ranks that write into one file: whose an error is may not be known. */
#include "testing.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "agent/rules/rulegather.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

static char path[] = "/tmp/vigil-causeshared-XXXXXX";

static void ask(struct rulegather *g, const struct rulegather_want *want, struct rulegather_result *ret,
		const char *more)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, more, strlen(more)), 0);
	close(fd);
	rulegather_begin(g, want, ret);
	while (!rulegather_step(g))
		(void)poll(NULL, 0, 5);
	assert_int_equal(rulegather_finish(g, NULL), 0);
}

static bool is_blind(const struct rulegather_result *r)
{
	for (size_t i = 0; i < r->n_unavailable; i++)
		if (strstr(r->unavailable[i], "2 ranks share it, and its lines do not say whose they are"))
			return true;
	return false;
}

static struct progress_patterns user = {.n = 1};

/* From here on the user's own words for a step are known. */
static void progress_read(struct rulegather *g)
{
	char why[160];
	size_t at;
	assert_int_equal(progress_pattern_init(&user.each[0], SPAN("it=(?<step>[0-9]+) of"), why, &at), 0);
	rulegather_progress(g, &user);
}

static void an_error_in_an_output_that_ranks_share_is_nobody_s(void **state)
{
	(void)state;
	const struct rulegather_rank ranks[] = {{.rank = 0, .err = path}, {.rank = 1, .err = path}};
	const struct rulegather_want want = {.ranks = ranks, .n_ranks = 2};
	struct world w = {.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			  .sys_fd = -1,
			  .cgroup_fd = -1,
			  .shm_fd = -1,
			  .kmsg_fd = -1,
			  .page_bytes = 4096,
			  .ticks_per_s = 100,
			  .mono_ns = clock_mono_ns,
			  .unix_ms = clock_unix_ms,
			  .recorded = true};
	cleanup(rulegather_freep) struct rulegather *g = NULL;
	cleanup(freep) struct rulegather_result *r = calloc(1, sizeof(*r));
	struct fault f = {.text = ""};
	int fd = mkstemp(path);
	assert_true(fd >= 0 && r);
	close(fd);
	if (rulegather_new(&w, NULL, NULL, 0, &g, &f) != 0)
		fail_msg("%s", f.text);
	ask(g, &want, r,
	    "Traceback (most recent call last):\n  File \"t.py\", line 3, in step\n"
	    "RuntimeError: expected 8 samples\n");
	assert_string_equal(r->error, "");
	assert_non_null(strstr(r->nobodys_error, "RuntimeError: expected 8 samples"));
	assert_string_equal(r->nobodys_source, "stderr");
	assert_true(is_blind(r));
	/* it was caught: steps come behind it */
	ask(g, &want, r, "step 7/10 loss 0.3\n");
	assert_string_equal(r->nobodys_error, "");
	/* lines that name ranks are read as theirs, also where another rank has the last word */
	ask(g, &want, r,
	    "[rank1]: Traceback (most recent call last):\n[rank1]:   File \"t.py\", line 3, in step\n"
	    "[rank1]: RuntimeError: expected 8 samples\n[rank0]: Traceback (most recent call last):\n"
	    "[rank0]: RuntimeError: Connection closed by peer\n");
	assert_non_null(strstr(r->error, "ranks=1: RuntimeError: expected 8 samples"));
	assert_false(is_blind(r));
	ask(g, &want, r, "[rank0]: it=7 of 10\n[rank1]: it=7 of 10\n");
	assert_non_null(strstr(r->error, "ranks=1"));
	progress_read(g);
	ask(g, &want, r, "[rank0]: it=8 of 10\n[rank1]: it=900 of 1000\n");
	assert_string_equal(r->error, "");
	assert_int_equal(r->pace.kind, RANKPACE_STEPS);
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
