#include "testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "tell/notify/spool.h"

#define NOW INT64_C(1795231059000)

static char dir[64];
static struct spool spool;
static struct notice notice;

static int make(void **state)
{
	(void)state;
	TEXT_COPY(dir, "/tmp/vigil-spool-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	spool_at(&spool, dir);
	notice_of_test("ops", "node", NOW, &notice);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	DIR *d = opendir(spool.dir);
	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
		char path[600];
		TEXT_FORMAT(path, "%s/%s", spool.dir, e->d_name);
		(void)unlink(path);
	}
	if (d)
		closedir(d);
	(void)rmdir(spool.dir);
	return rmdir(dir);
}

static void what_is_put_is_found_in_order_and_read_back(void **state)
{
	struct spool_list l;
	struct notice again;
	(void)state;
	assert_true(spool_is_empty(&spool));
	assert_int_equal(spool_put(&spool, "b", &notice, NOW + 5), 0);
	assert_int_equal(spool_put(&spool, "a-channel", &notice, NOW), 0);
	assert_int_equal(spool_scan(&spool, NOW, &l), 0);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.entry[0].channel, "a-channel");
	assert_true(l.entry[0].time_unix_ms == NOW);
	assert_string_equal(l.entry[1].channel, "b");
	assert_int_equal(spool_read(&spool, l.entry[0].file, &again), 0);
	assert_memory_equal(&again, &notice, sizeof(notice));
	spool_drop(&spool, l.entry[0].file);
	assert_int_equal(spool_read(&spool, l.entry[0].file, &again), SPOOL_NONE);
	spool_list_done(&l);
}

static void only_its_owner_can_read_the_spool(void **state)
{
	struct stat st;
	(void)state;
	assert_int_equal(spool_put(&spool, "a", &notice, NOW), 0);
	assert_int_equal(stat(spool.dir, &st), 0);
	assert_int_equal(st.st_mode & 077, 0);
}

static void old_ones_go_and_new_ones_push_out_the_oldest(void **state)
{
	struct spool_list l;
	(void)state;
	assert_int_equal(spool_put(&spool, "a", &notice, NOW - SPOOL_AGE_MS - 1), 0);
	for (int i = 0; i < SPOOL_FILES + 7; i++)
		assert_int_equal(spool_put(&spool, "a", &notice, NOW + i), 0);
	assert_int_equal(spool_scan(&spool, NOW, &l), 0);
	assert_int_equal(l.n, SPOOL_FILES);
	assert_true(l.entry[0].time_unix_ms == NOW + 7);
	spool_list_done(&l);
}

static void put_file(const char *name, const char *text)
{
	char path[600];
	TEXT_FORMAT(path, "%s/%s", spool.dir, name);
	assert_int_equal(file_replace(path, text, strlen(text), 0600), 0);
}

static void half_files_are_dropped_when_met(void **state)
{
	struct spool_list l;
	struct notice again;
	(void)state;
	assert_int_equal(spool_put(&spool, "a", &notice, NOW), 0);
	put_file("README", "x");
	put_file("n-01795231059000-1-1-.json", "x");
	put_file("n-x1795231059000-1-1-a.json", "x");
	put_file("n-01795231059000-1-a.json", "x");
	put_file("n-01795231059001-1-1-a.json", "{\"schema\": \"vigil.notice/1\", \"id");
	put_file("n-01795231059002-1-1-a.json", "");
	assert_int_equal(spool_scan(&spool, NOW, &l), 0);
	assert_int_equal(l.n, 3);
	assert_int_equal(spool_read(&spool, l.entry[1].file, &again), SPOOL_NONE);
	assert_int_equal(spool_read(&spool, l.entry[2].file, &again), SPOOL_NONE);
	spool_list_done(&l);
	assert_int_equal(spool_scan(&spool, NOW, &l), 0);
	assert_int_equal(l.n, 1);
	spool_list_done(&l);
}

static void only_one_holds_the_lock(void **state)
{
	int one = -1, two = -1, other = -1;
	(void)state;
	assert_int_equal(spool_lock(&spool, "", &one), 0);
	assert_int_equal(spool_lock(&spool, "", &two), SPOOL_BUSY);
	assert_int_equal(spool_lock(&spool, "ops", &other), 0);
	close(one);
	assert_int_equal(spool_lock(&spool, "", &two), 0);
	close(two);
	close(other);
}

static void what_is_known_of_a_channel_survives(void **state)
{
	static struct delivery d, again;
	(void)state;
	memset(&d, 0, sizeof(d));
	d.tokens_used = 2.5;
	d.tokens_ms = NOW;
	d.fails = 3;
	d.failed_ms = NOW;
	d.retry_ms = NOW + 9;
	d.delivered = 7;
	TEXT_COPY(d.trouble, "no route");
	d.n = 1;
	TEXT_COPY(d.group[0].key, "k");
	TEXT_COPY(d.group[0].id, "i");
	d.group[0].sent_ms = NOW;
	d.group[0].sent = 2;
	d.group[0].open = true;
	assert_int_equal(spool_put(&spool, "a", &notice, NOW), 0);
	assert_int_equal(spool_delivery_write(&spool, "a", &d), 0);
	spool_delivery_read(&spool, "a", &again);
	assert_memory_equal(&d, &again, sizeof(d));
	put_file("channel-a.json", "{\"fails\": -4, \"groups\": [1, {}, {\"key\": 5}], \"tokens_used\": 1e300}");
	spool_delivery_read(&spool, "a", &again);
	assert_int_equal(again.fails, 0);
	assert_int_equal(again.n, 0);
	assert_true(again.tokens_used == 0);
	spool_delivery_read(&spool, "unheard-of", &again);
	assert_int_equal(again.delivered, 0);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, make, drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(what_is_put_is_found_in_order_and_read_back),
		WITH(only_its_owner_can_read_the_spool),
		WITH(old_ones_go_and_new_ones_push_out_the_oldest),
		WITH(half_files_are_dropped_when_met),
		WITH(only_one_holds_the_lock),
		WITH(what_is_known_of_a_channel_survives),
	};
	return cmocka_run_group_tests_name("tell/notify/spool", tests, NULL, NULL);
}
