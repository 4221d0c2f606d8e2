#include "testing.h"
#include "world_fixture.h"

#include <poll.h>

#include "sense/memory/psi.h"

static bool near(double a, double b)
{
	return a - b < 1e-9 && b - a < 1e-9;
}

static void averages_become_ratios(void **state)
{
	(void)state;
	struct psi p;
	struct world w = fixture_world("hybrid-v1");
	assert_int_equal(psi_read(w.proc_fd, "pressure/memory", &p), 0);
	assert_true(near(p.some.avg10_ratio, 0.0153) && near(p.some.avg60_ratio, 0.12));
	assert_true(near(p.some.avg300_ratio, 0.0007));
	assert_true(p.some.total_us == 4242424242);
	assert_true(p.has_full && near(p.full.avg60_ratio, 1.0) && p.full.total_us == 77);
	fixture_close(&w);
}

static void kernels_without_full_lines_are_fine(void **state)
{
	(void)state;
	struct psi p;
	assert_int_equal(psi_parse(SPAN("some avg10=0.00 avg60=0.00 avg300=0.00 total=5"), &p), 0);
	assert_false(p.has_full);
	assert_int_equal(psi_parse(SPAN("some avg10=999999999999999999999.9 avg60=7 avg300=200.5 total=5"), &p), 0);
	assert_true(near(p.some.avg10_ratio, 1) && near(p.some.avg60_ratio, 0.07) && near(p.some.avg300_ratio, 1));
}

static void half_lines_are_refused(void **state)
{
	(void)state;
	struct psi p;
	assert_int_equal(psi_parse(SPAN(""), &p), -EBADMSG);
	assert_int_equal(psi_parse(SPAN("full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"), &p), -EBADMSG);
	assert_int_equal(psi_parse(SPAN("some avg10=0.00 avg60=0.00 avg300=0.00\n"), &p), -EBADMSG);
	assert_int_equal(psi_parse(SPAN("some avg10= avg60=0.00 avg300=0.00 total=1\n"), &p), -EBADMSG);
}

static void missing_files_mean_no_psi(void **state)
{
	(void)state;
	struct psi p;
	int fd;
	uint64_t window;
	struct world w = fixture_world("lxcfs-underflow");
	assert_int_equal(psi_read(w.proc_fd, "pressure/memory", &p), WORLD_ABSENT);
	assert_int_equal(psi_read(-1, "pressure/memory", &p), WORLD_ABSENT);
	assert_int_equal(psi_trigger_open(w.proc_fd, "pressure/memory", false, 1, 2, &fd, &window), WORLD_ABSENT);
	assert_int_equal(psi_trigger_open(w.proc_fd, "pressure/memory", false, 3, 2, &fd, &window), -EINVAL);
	fixture_close(&w);
}

static void a_recorded_file_is_never_written_to(void **state)
{
	(void)state;
	struct psi p;
	int fd;
	uint64_t window;
	struct world w = fixture_world("hybrid-v1");
	assert_int_equal(psi_trigger_open(w.proc_fd, "pressure/memory", false, 1, 2, &fd, &window), WORLD_ABSENT);
	assert_int_equal(psi_read(w.proc_fd, "pressure/memory", &p), 0);
	fixture_close(&w);
}

/* With the right to it the window stays as asked for, without it becomes 2 s: both are a live trigger. */
static void a_trigger_opens_with_a_window_that_the_kernel_takes(void **state)
{
	(void)state;
	struct world w = live_world();
	int fd = -1;
	uint64_t window = 0;
	int r = psi_trigger_open(w.proc_fd, "pressure/memory", false, 70000, 1000000, &fd, &window);
	fixture_close(&w);
	if (r == WORLD_ABSENT || r == WORLD_DENIED) {
		print_message("skipped: this kernel gives no PSI triggers to us (condition %d)\n", r);
		skip();
	}
	assert_int_equal(r, 0);
	assert_true(window == 1000000 || window == 2000000);
	struct pollfd p = {.fd = fd, .events = POLLPRI};
	assert_true(poll(&p, 1, 0) >= 0);
	assert_int_equal(p.revents & POLLERR, 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(averages_become_ratios),
		cmocka_unit_test(kernels_without_full_lines_are_fine),
		cmocka_unit_test(half_lines_are_refused),
		cmocka_unit_test(missing_files_mean_no_psi),
		cmocka_unit_test(a_recorded_file_is_never_written_to),
		cmocka_unit_test(a_trigger_opens_with_a_window_that_the_kernel_takes),
	};
	return cmocka_run_group_tests_name("sense/memory/psi", tests, NULL, NULL);
}
