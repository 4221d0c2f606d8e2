#include "testing.h"

#include <string.h>

#include "agent/heap/torchsnap.h"

static char remarks[4][300];
static size_t n_remarks;

static struct heapset *read_snap(const char *name, int expected)
{
	struct heapset *h = NULL;
	struct fault f = {.text = ""};
	n_remarks = 0;
	assert_int_equal(torchsnap_read(name, &h, remarks, 4, &n_remarks, &f), expected);
	assert_true(expected == 0 || f.text[0]);
	return h;
}

static void blocks_in_use_stand_by_their_frames_and_devices_by_their_pieces(void **state)
{
	(void)state;
	struct heapset *h = read_snap(FIXTURES "/torch/two_devices.pickle", 0);
	const struct heapset_want want = {.what = HEAPSET_LIVE, .lines = true};
	struct heapset_row *rows;
	size_t n, n_devices;
	char text[100];
	const struct heapset_process *d = heapset_processes(h, &n_devices);
	assert_int_equal(n_devices, 2);
	assert_int_equal(d[0].device, 0);
	assert_int_equal(d[0].reserved_bytes, 102 * MIB);
	assert_int_equal(d[0].allocated_bytes, 71 * MIB);
	assert_int_equal(d[0].largest_free_bytes, 20 * MIB);
	assert_int_equal(d[0].free_blocks, 3);
	assert_int_equal(d[0].segments, 2);
	assert_int_equal(d[1].allocated_bytes, 2 * MIB);
	assert_int_equal(heapset_rows(h, &want, &rows, &n), 0);
	assert_int_equal(n, 3);
	assert_true(rows[0].amount.bytes == 41.0 * MIB && rows[0].amount.objects == 2);
	heapset_headline(h, rows[0].node, text, sizeof(text));
	assert_string_equal(text, "model.py:12 forward");
	assert_true(rows[1].amount.bytes == 30.0 * MIB);
	heapset_headline(h, rows[1].node, text, sizeof(text));
	assert_string_equal(text, "data.py:7 batch");
	assert_true(heap_amount_interval(&rows[0].amount).low == 41.0 * MIB);
	assert_int_equal(n_remarks, 1);
	assert_non_null(strstr(remarks[0], "_record_memory_history"));
	free(rows);
	heapset_free(h);
}

/*
 * Recorded with PyTorch 2.11 on an H200: each stack begins with the recorder and the allocator, and those of gradients
 * have no Python frame at all.
 */
static void frames_of_the_recorder_and_the_allocator_are_left_out(void **state)
{
	(void)state;
	struct heapset *h = read_snap(FIXTURES "/torch/cpp_frames.pickle", 0);
	const struct heapset_want want = {.what = HEAPSET_LIVE, .lines = true};
	struct heapset_row *rows;
	size_t n;
	char text[5][300] = {""};
	assert_int_equal(heapset_rows(h, &want, &rows, &n), 0);
	assert_int_equal(n, 4);
	for (size_t i = 0; i < n; i++) {
		heapset_headline(h, rows[i].node, text[i], sizeof(text[i]));
		assert_null(strstr(text[i], "unwind"));
		assert_null(strstr(text[i], "CachingAllocator"));
	}
	assert_string_equal(text[0], "cuda_jobs.py:32 step -> torch");
	assert_non_null(strstr(text[1], "at::cuda::setWorkspaceForHandle"));
	assert_string_equal(text[2], "cuda_jobs.py:308 snapshot");
	assert_non_null(strstr(text[3], "create_out"));
	free(rows);
	heapset_free(h);
}

static void the_form_of_older_releases_is_read(void **state)
{
	(void)state;
	struct heapset *h = read_snap(FIXTURES "/torch/old_list.pickle", 0);
	size_t n;
	assert_int_equal(heapset_processes(h, &n)->allocated_bytes, 3 * MIB);
	const struct frame *path[4];
	assert_int_equal(heapset_path(h, heapset_sites(h, &n)->node, path, 4), 2);
	assert_string_equal(path[0]->name, "forward");
	heapset_free(h);
}

static const struct heapset_row *row_of(const struct heapset *h, const struct heapset_row *rows, size_t n,
					const char *text)
{
	for (size_t i = 0; i < n; i++) {
		char line[200];
		heapset_headline(h, rows[i].node, line, sizeof(line));
		if (strstr(line, text))
			return &rows[i];
	}
	fail_msg("no row %s", text);
	return NULL;
}

/*
 * 100 MiB asked for in it and kept, 200 for a second and 40 for half of one; 50 that were there before, and 30 that
 * were and are freed in it. Most was in use before the 200 were freed: all but the 40.
 */
static void a_history_tells_of_peaks_and_lives_and_of_running_out(void **state)
{
	(void)state;
	struct heapset *h = read_snap(FIXTURES "/torch/history.pickle", 0);
	struct heapset_want want = {.what = HEAPSET_PEAK, .lines = true};
	struct heapset_row *rows;
	size_t n;
	const struct heapset_process *d = heapset_processes(h, &n);
	assert_int_equal(n, 1);
	assert_true(d->trace.valid && d->trace.allocations == 3 && d->trace.frees == 3 && d->trace.ooms == 1);
	assert_true(d->trace.segments_new == 1 && d->trace.segments_gone == 0 && d->trace.seconds == 6);
	assert_true(d->trace.peak_bytes == 380 * MIB && d->trace.unknown_bytes == 80 * MIB);
	assert_int_equal(n_remarks, 1);
	assert_string_equal(remarks[0], "device 0 ran out of memory: 2.00 GiB were asked for by attend (model.py:20), "
					"1.00 GiB of the device were free");
	assert_true(heapset_total(h, &want).bytes == 380.0 * MIB);
	assert_int_equal(heapset_rows(h, &want, &rows, &n), 0);
	assert_int_equal(n, 4);
	assert_true(row_of(h, rows, n, "batch")->amount.bytes == 200.0 * MIB);
	assert_true(row_of(h, rows, n, "model.py:12 forward")->amount.bytes == 100.0 * MIB);
	assert_true(row_of(h, rows, n, "model.py:5 build")->amount.bytes == 50.0 * MIB);
	assert_true(row_of(h, rows, n, "before the history")->amount.bytes == 30.0 * MIB);
	free(rows);
	want.what = HEAPSET_TEMPORARY;
	assert_int_equal(heapset_rows(h, &want, &rows, &n), 0);
	assert_true(n == 2 && rows[0].amount.bytes == 200.0 * MIB && rows[1].amount.bytes == 40.0 * MIB);
	free(rows);
	want.what = HEAPSET_LIFETIME;
	assert_int_equal(heapset_rows(h, &want, &rows, &n), 0);
	assert_int_equal(n, 3);
	assert_true(heapset_total(h, &want).bytes > 119.9 * MIB && heapset_total(h, &want).bytes < 120.1 * MIB);
	struct heap_life kept = heap_lives_mean(&row_of(h, rows, n, "forward")->f.lives);
	assert_true(kept.at_least && kept.seconds > 4.9 && kept.seconds < 5.1);
	assert_true(heap_lives_mean(&row_of(h, rows, n, "batch")->f.lives).seconds == 1);
	free(rows);
	want.what = HEAPSET_LIVE;
	assert_true(heapset_total(h, &want).bytes == 150.0 * MIB);
	heapset_free(h);
}

static void what_is_no_snapshot_is_said_to_be_none(void **state)
{
	(void)state;
	assert_null(read_snap("/etc/passwd", -EBADMSG));
	assert_null(read_snap("/nowhere", -ENOENT));
	assert_true(torchsnap_is("\x80\x04", 2));
	assert_false(torchsnap_is("\x80\x09", 2));
	assert_false(torchsnap_is("", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_in_use_stand_by_their_frames_and_devices_by_their_pieces),
		cmocka_unit_test(frames_of_the_recorder_and_the_allocator_are_left_out),
		cmocka_unit_test(the_form_of_older_releases_is_read),
		cmocka_unit_test(a_history_tells_of_peaks_and_lives_and_of_running_out),
		cmocka_unit_test(what_is_no_snapshot_is_said_to_be_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
