/*
 * The rule book after the wall clock was set: a record of the kernel belongs to the job by its age. The clock since
 * boot is a day ahead of the machine's, so that a record may be older than the machine has been up.
 */
#include "testing.h"
#include "world_fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "agent/rules/rulegather.h"
#include "base/file.h"

static char kmsg[] = "/tmp/vigil-ruleclock-XXXXXX";
static int64_t set_ms; /* added to the wall clock */

static int64_t wall_ms(void)
{
	return clock_unix_ms() + set_ms;
}

/* True if a job that began two minutes ago is blamed on a kernel record of that age. */
static bool is_found(unsigned long long ago_s, int64_t then_set_ms)
{
	const struct rulegather_rank rank = {.rank = 0};
	const struct rulegather_want want = {.ranks = &rank, .n_ranks = 1};
	struct world w = {.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			  .sys_fd = -1,
			  .cgroup_fd = -1,
			  .shm_fd = -1,
			  .kmsg_fd = open(kmsg, O_RDONLY | O_CLOEXEC),
			  .page_bytes = 4096,
			  .ticks_per_s = 100,
			  .mono_ns = later_mono_ns,
			  .unix_ms = wall_ms,
			  .recorded = true};
	cleanup(rulegather_freep) struct rulegather *g = NULL;
	cleanup(freep) struct rulegather_result *r = calloc(1, sizeof(*r));
	struct fault f = {.text = ""};
	char record[200];
	int fd = open(kmsg, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_true(fd >= 0 && r);
	TEXT_FORMAT(record, "3,1,%llu,-;nfs: server store not responding, still trying\n",
		    (unsigned long long)(later_mono_ns() / 1000) - ago_s * 1000000);
	set_ms = 0;
	if (rulegather_new(&w, NULL, NULL, wall_ms() - 120000, &g, &f) != 0)
		fail_msg("%s", f.text);
	assert_int_equal(file_write_all(fd, record, strlen(record)), 0);
	close(fd);
	set_ms = then_set_ms;
	rulegather_begin(g, &want, r);
	while (!rulegather_step(g))
		(void)poll(NULL, 0, 5);
	assert_int_equal(rulegather_finish(g, NULL), 0);
	closep(&w.proc_fd);
	closep(&w.kmsg_fd);
	return strcmp(r->verdict.id, "nfs_not_responding") == 0;
}

static void a_clock_that_was_set_moves_no_record_of_the_kernel(void **state)
{
	(void)state;
	const int64_t day_ms = INT64_C(86400000);
	int fd = mkstemp(kmsg);
	assert_true(fd >= 0);
	close(fd);
	for (int days = -1; days <= 1; days++) {
		assert_true(is_found(30, days * day_ms));
		assert_false(is_found(600, days * day_ms));
	}
	(void)unlink(kmsg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clock_that_was_set_moves_no_record_of_the_kernel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
