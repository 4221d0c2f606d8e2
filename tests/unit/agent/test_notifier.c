/* Notices of a job's incidents: put, repeated and resolved. No deliverer is started. */
#include "scratch_fixture.h"

#include "agent/notify/notifier.h"

static uint64_t now_ns;
static struct channels all;

static uint64_t fake_mono_ns(void)
{
	return now_ns;
}

static struct notifier opened(void)
{
	struct world w = live_world();
	struct notifier n;
	w.mono_ns = fake_mono_ns;
	now_ns = 1000 * NS_PER_S;
	all.n = 1;
	channel_init(&all.item[0], CHANNEL_EXEC);
	TEXT_COPY(all.item[0].name, "pager");
	all.item[0].resolved = true;
	all.item[0].repeat_ms = 60000;
	notifier_open(&n, &w, scratch, &all);
	closep(&n.program_fd);
	n.program_fd = -1;
	fixture_close(&w);
	return n;
}

static size_t spooled(const struct notifier *n, struct notice *last)
{
	cleanup(spool_list_done) struct spool_list l;
	assert_int_equal(spool_scan(&n->spool, clock_unix_ms(), &l), 0);
	for (size_t i = 0; last && i < l.n; i++)
		assert_int_equal(spool_read(&n->spool, l.entry[i].file, last), 0);
	return l.n;
}

static struct incident *incident_of(const char *job, enum incident_kind kind)
{
	static struct incident i;
	i = (struct incident){.kind = kind, .time_unix_ms = 1700000000000};
	TEXT_COPY(i.job, job);
	TEXT_FORMAT(i.id, "%s-1", job);
	TEXT_COPY(i.summary, "it stands");
	return &i;
}

static void a_hang_is_repeated_until_it_is_over(void **state)
{
	(void)state;
	static struct notice last;
	struct notifier n = opened();
	assert_true(notifier_due_ns(&n) == 0);
	notifier_incident(&n, incident_of("j1", INCIDENT_HANG));
	assert_int_equal(spooled(&n, NULL), 1);
	(void)notifier_tick(&n);
	/* a quarter of the channel's own time, for its deliverer to choose from */
	assert_int_equal(notifier_due_ns(&n), 1015 * NS_PER_S);
	now_ns = 1014 * NS_PER_S;
	(void)notifier_tick(&n);
	assert_int_equal(spooled(&n, NULL), 1);
	now_ns = 1015 * NS_PER_S;
	(void)notifier_tick(&n);
	assert_int_equal(spooled(&n, NULL), 2);
	notifier_over(&n, "j1", "hang", "it moves again");
	assert_int_equal(spooled(&n, &last), 3);
	assert_true(last.resolved);
	assert_string_equal(last.text, "it moves again");
	now_ns = 2000 * NS_PER_S;
	(void)notifier_tick(&n);
	assert_int_equal(spooled(&n, NULL), 3);
	assert_int_equal(n.n_reported, 0);
}

static void an_event_is_not_repeated_and_a_good_end_resolves_it(void **state)
{
	(void)state;
	static struct notice last;
	struct notifier n = opened();
	notifier_incident(&n, incident_of("j1", INCIDENT_CRASH));
	notifier_incident(&n, incident_of("j2", INCIDENT_HANG));
	notifier_ended(&n, "j2"); /* what lasted lasts no longer, but nobody said that it is fine */
	now_ns = 5000 * NS_PER_S;
	(void)notifier_tick(&n);
	assert_int_equal(spooled(&n, NULL), 2);
	notifier_over(&n, "j1", "hang", "not of this kind");
	notifier_ok(&n, "j3");
	assert_int_equal(spooled(&n, NULL), 2);
	notifier_ok(&n, "j1");
	assert_int_equal(spooled(&n, &last), 3);
	assert_true(last.resolved);
	assert_string_equal(last.job, "j1");
	assert_int_equal(n.n_reported, 1);
	n.put_any = false; /* no deliverer is there to wait for */
	notifier_close(&n);
}

static void the_oldest_report_makes_room(void **state)
{
	(void)state;
	struct notifier n = opened();
	char job[16];
	for (int i = 0; i < NOTIFIER_REPORTED + 2; i++) {
		TEXT_FORMAT(job, "j%d", i);
		notifier_incident(&n, incident_of(job, INCIDENT_HANG));
		notifier_incident(&n, incident_of(job, INCIDENT_HANG)); /* the same one is not a second */
	}
	assert_int_equal(n.n_reported, NOTIFIER_REPORTED);
	assert_string_equal(n.reported[0].job, "j2");
	for (int i = 0; i < NOTIFIER_REPORTED + 2; i++) {
		TEXT_FORMAT(job, "j%d", i);
		notifier_ended(&n, job);
	}
}

static void secrets_of_warnings_are_masked(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"the processes grow: python3 train.py --password hunter2 (pid 7)",
		"the loss became NaN at step 20; api_key=hunter2",
		"process 7 (pw=hunter2) moves again: Bearer hunter2hunter2hunter2",
	};
	static struct notice last;
	struct notifier n = opened();
	notifier_warning(&n, "j1", "node", "memory_warning", texts[0]);
	assert_int_equal(spooled(&n, &last), 1);
	assert_null(strstr(last.title, "hunter2"));
	assert_null(strstr(last.text, "hunter2"));
	assert_non_null(strstr(last.text, "train.py"));
	notifier_loss(&n, "j2", 1, texts[1]);
	assert_int_equal(spooled(&n, &last), 2);
	assert_null(strstr(last.title, "hunter2"));
	assert_null(strstr(last.text, "hunter2"));
	assert_non_null(strstr(last.title, "step 20"));
	notifier_incident(&n, incident_of("j3", INCIDENT_HANG));
	notifier_over(&n, "j3", "hang", texts[2]);
	assert_int_equal(spooled(&n, &last), 4);
	assert_null(strstr(last.text, "hunter2"));
	assert_non_null(strstr(last.text, "moves again"));
}

static void without_channels_nothing_is_done(void **state)
{
	(void)state;
	struct world w = live_world();
	struct notifier n;
	notifier_open(&n, &w, scratch, NULL);
	notifier_incident(&n, incident_of("j1", INCIDENT_HANG));
	notifier_incident(NULL, incident_of("j1", INCIDENT_HANG));
	notifier_ok(&n, "j1");
	notifier_ended(NULL, "j1");
	notifier_reaped(NULL, 7);
	assert_true(notifier_due_ns(&n) == UINT64_MAX);
	assert_false(notifier_tick(&n));
	assert_false(notifier_tick(NULL));
	notifier_close(NULL);
	assert_false(scratch_has("notify"));
	fixture_close(&w);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(a_hang_is_repeated_until_it_is_over),
		IN_FOLDER(an_event_is_not_repeated_and_a_good_end_resolves_it),
		IN_FOLDER(the_oldest_report_makes_room),
		IN_FOLDER(secrets_of_warnings_are_masked),
		IN_FOLDER(without_channels_nothing_is_done),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
