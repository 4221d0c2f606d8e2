/* One notice to one channel, and all that waits in the spool to all channels. */
#include "scratch_fixture.h"

#include "agent/notify/deliver.h"
#include "agent/notify/dispatch.h"

static struct channels all;

static struct channel *exec_channel(const char *name, const char *script)
{
	struct channel *c = &all.item[all.n++];
	channel_init(c, CHANNEL_EXEC);
	TEXT_COPY(c->name, name);
	TEXT_COPY(c->argv.item[0], "/bin/sh");
	TEXT_COPY(c->argv.item[1], "-c");
	TEXT_COPY(c->argv.item[2], script);
	c->argv.n = 3;
	return c;
}

static struct dispatch dispatched(const struct channel *c)
{
	static struct notice n;
	struct dispatch d;
	notice_of_test(c->name, "node-1", 1700000000000, &n);
	dispatch_now(c, &n, 1700000000000, &d);
	return d;
}

static void a_hook_arrives_when_it_ends_well(void **state)
{
	(void)state;
	all.n = 0;
	char script[300];
	TEXT_FORMAT(script, "cat > %s/got; test $VIGIL_CHANNEL = pager", scratch);
	assert_int_equal(dispatched(exec_channel("pager", script)).outcome, NOTIFY_ARRIVED);
	cleanup(freep) char *text = NULL;
	size_t len;
	assert_int_equal(file_slurp(AT_FDCWD, scratch_path("got"), MIB, &text, &len), 0);
	assert_non_null(strstr(text, "vigil.notice/1"));
	struct dispatch d = dispatched(exec_channel("other", "echo no room >&2; exit 3"));
	assert_int_equal(d.outcome, NOTIFY_TRY_AGAIN);
	assert_non_null(strstr(d.why, "/bin/sh ended with exit status 3"));
	d = dispatched(exec_channel("killed", "kill -9 $$"));
	assert_string_equal(d.why, "/bin/sh died of signal 9");
	struct channel *c = exec_channel("gone", "");
	TEXT_COPY(c->argv.item[0], "/nowhere/hook");
	assert_int_equal(dispatched(c).outcome, NOTIFY_TRY_AGAIN);
}

static void a_secret_that_cannot_be_read_is_tried_again(void **state)
{
	(void)state;
	static struct channel c;
	channel_init(&c, CHANNEL_WEBHOOK);
	TEXT_COPY(c.url, "http://127.0.0.1:1/");
	TEXT_COPY(c.secret_file, scratch_path("secret"));
	struct dispatch d = dispatched(&c);
	assert_int_equal(d.outcome, NOTIFY_TRY_AGAIN);
	assert_non_null(strstr(d.why, "cannot read "));
	static char line[600];
	memset(line, 'x', sizeof(line));
	scratch_put("secret", line, sizeof(line), 0600);
	assert_non_null(strstr(dispatched(&c).why, "its first line is longer than 511 bytes"));
}

static void spool_fill(const char *channel, const char *job)
{
	static struct notice n;
	struct spool s;
	notice_of_test(channel, "node-1", clock_unix_ms(), &n);
	TEXT_FORMAT(n.key, "%s/crash", job);
	spool_at(&s, scratch);
	assert_int_equal(spool_put(&s, channel, &n, clock_unix_ms()), 0);
}

static void what_waits_is_delivered_once_and_the_rest_is_counted(void **state)
{
	(void)state;
	all.n = 0;
	char script[300];
	struct deliver_count count;
	const struct deliver_how how = {.lifetime_ns = 20 * NS_PER_S, .once = true};
	TEXT_FORMAT(script, "echo x >> %s/good", scratch);
	exec_channel("good", script);
	TEXT_FORMAT(script, "echo x >> %s/bad; exit 1", scratch);
	exec_channel("bad", script);
	spool_fill("good", "a");
	spool_fill("bad", "a");
	spool_fill("removed", "a");
	assert_int_equal(deliver_run(&all, scratch, &how, &count), 0);
	assert_int_equal(count.delivered, 1);
	assert_int_equal(count.left, 1);
	assert_int_equal(count.unknown, 1);
	struct stat st;
	assert_int_equal(stat(scratch_path("good"), &st), 0);
	assert_int_equal(st.st_size, 2);
	assert_int_equal(stat(scratch_path("bad"), &st), 0);
	assert_int_equal(st.st_size, 2); /* tried once, although its lifetime is not over */
	assert_int_equal(deliver_run(&all, scratch, &how, &count), 0);
	assert_int_equal(count.delivered, 0);
	assert_int_equal(count.left, 1);
}

static void an_empty_spool_ends_at_once(void **state)
{
	(void)state;
	all.n = 0;
	struct deliver_count count;
	const struct deliver_how how = {.lifetime_ns = 3600 * NS_PER_S};
	exec_channel("good", "exit 0");
	assert_int_equal(deliver_run(&all, scratch, &how, &count), 0);
	assert_int_equal(count.delivered + count.left + count.unknown, 0);
}

static void a_second_deliverer_leaves_it_to_the_first(void **state)
{
	(void)state;
	all.n = 0;
	struct deliver_count count;
	struct spool s;
	cleanup(closep) int lock = -1;
	const struct deliver_how how = {.lifetime_ns = NS_PER_S};
	spool_fill("good", "a");
	spool_at(&s, scratch);
	assert_int_equal(spool_lock(&s, "", &lock), 0);
	assert_int_equal(deliver_run(&all, scratch, &how, &count), SPOOL_BUSY);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(a_hook_arrives_when_it_ends_well),
		IN_FOLDER(a_secret_that_cannot_be_read_is_tried_again),
		IN_FOLDER(what_waits_is_delivered_once_and_the_rest_is_counted),
		IN_FOLDER(an_empty_spool_ends_at_once),
		IN_FOLDER(a_second_deliverer_leaves_it_to_the_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
