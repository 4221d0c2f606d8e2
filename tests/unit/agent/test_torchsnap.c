#include "testing.h"

#include "agent/torchsnap.h"

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
		cmocka_unit_test(the_form_of_older_releases_is_read),
		cmocka_unit_test(what_is_no_snapshot_is_said_to_be_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
