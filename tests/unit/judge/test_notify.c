#include "testing.h"

#include "base/buf.h"
#include "judge/notify/notify.h"

#define S INT64_C(1000)
#define START (INT64_C(1795231059) * S)

static const struct notify_rules rules = {
	.group_ms = 30 * S, .repeat_ms = 4 * 3600 * S, .per_minute = 15, .digest = true};
static struct delivery d;
static struct notify_item item[NOTIFY_ITEMS];
static size_t n;
static struct notify_step step;

static int fresh(void **state)
{
	(void)state;
	memset(&d, 0, sizeof(d));
	n = 0;
	return 0;
}

static void wait_for_sending(const char *key, const char *id)
{
	item[n++] = (struct notify_item){.key = key, .id = id};
}

static void is_over(const char *key, const char *id)
{
	item[n++] = (struct notify_item){.key = key, .id = id, .resolved = true};
}

static enum notify_act judge_with(const struct notify_rules *r, int64_t now)
{
	notify_judge(r, &d, item, n, now, &step);
	return step.act;
}

static enum notify_act judge_at(int64_t now)
{
	return judge_with(&rules, now);
}

static size_t taken(void)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		count += step.taken[i];
	return count;
}

static void remove_taken(void)
{
	size_t left = 0;
	for (size_t i = 0; i < n; i++)
		if (!step.taken[i])
			item[left++] = item[i];
	n = left;
}

static void arrives(int64_t now)
{
	notify_delivered(&d, &rules, item, n, &step, now);
	remove_taken();
}

static void nothing_waits_so_nothing_is_done(void **state)
{
	(void)state;
	assert_int_equal(judge_at(START), NOTIFY_IDLE);
}

static void the_first_notice_goes_out_at_once_and_more_of_it_are_gathered(void **state)
{
	(void)state;
	wait_for_sending("job/crash", "job.1");
	assert_int_equal(judge_at(START), NOTIFY_SEND);
	arrives(START);
	wait_for_sending("job/crash", "job.2");
	wait_for_sending("job/crash", "job.3");
	assert_int_equal(judge_at(START + 10 * S), NOTIFY_WAIT);
	assert_true(step.until_ms == START + 30 * S);
	assert_int_equal(judge_at(START + 30 * S), NOTIFY_SEND);
	assert_int_equal(taken(), 2);
	arrives(START + 30 * S);
	wait_for_sending("job/crash", "job.4");
	assert_int_equal(judge_at(START + 31 * S), NOTIFY_WAIT);
	assert_true(step.until_ms == START + 90 * S); /* twice as long */
}

static void gathering_never_takes_longer_than_the_repeat_interval(void **state)
{
	static const char *const ids[] = {"a", "b"};
	int64_t now = START, last = 0;
	(void)state;
	for (int i = 0; i < 60; i++) {
		wait_for_sending("job/crash", ids[i % 2]);
		if (judge_at(now) == NOTIFY_WAIT)
			now = step.until_ms;
		assert_int_equal(judge_at(now), NOTIFY_SEND);
		arrives(now);
		assert_true(last == 0 || now - last <= rules.repeat_ms);
		last = now;
	}
}

static void the_same_notice_again_is_a_reminder_only_after_the_repeat_interval(void **state)
{
	(void)state;
	wait_for_sending("job/hang", "job.1");
	(void)judge_at(START);
	arrives(START);
	wait_for_sending("job/hang", "job.1");
	assert_int_equal(judge_at(START + 60 * S), NOTIFY_DROP);
	assert_int_equal(judge_at(START + 4 * 3600 * S), NOTIFY_SEND);
}

static void what_is_over_is_said_once_and_only_if_it_was_told(void **state)
{
	(void)state;
	is_over("job/hang", "r1");
	assert_int_equal(judge_at(START), NOTIFY_DROP);
	remove_taken();
	wait_for_sending("job/hang", "job.1");
	(void)judge_at(START);
	arrives(START);
	is_over("job/hang", "r2");
	assert_int_equal(judge_at(START + S), NOTIFY_SEND);
	arrives(START + S);
	is_over("job/hang", "r3");
	assert_int_equal(judge_at(START + 2 * S), NOTIFY_DROP);
	remove_taken();
	wait_for_sending("job/hang", "job.2"); /* it begins anew */
	assert_int_equal(judge_at(START + 3 * S), NOTIFY_SEND);
}

static void news_that_is_over_before_it_could_be_sent_is_told_in_order(void **state)
{
	(void)state;
	wait_for_sending("job/crash", "job.1");
	is_over("job/crash", "r1");
	assert_int_equal(judge_at(START), NOTIFY_SEND);
	assert_true(step.taken[0] && !step.taken[1]);
	arrives(START);
	assert_int_equal(judge_at(START), NOTIFY_SEND);
	assert_true(step.taken[0] && item[0].resolved);
}

static void an_update_that_waits_gives_way_to_the_end(void **state)
{
	(void)state;
	wait_for_sending("job/crash", "job.1");
	(void)judge_at(START);
	arrives(START);
	wait_for_sending("job/crash", "job.2");
	is_over("job/crash", "r1");
	assert_int_equal(judge_at(START + S), NOTIFY_DROP);
	assert_true(step.taken[0] && !step.taken[1]);
	remove_taken();
	assert_int_equal(judge_at(START + S), NOTIFY_SEND);
	assert_true(item[0].resolved);
}

static char many_keys[100][24];

static void many(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		TEXT_FORMAT(many_keys[i], "job%zu/crash", i);
		wait_for_sending(many_keys[i], many_keys[i]);
	}
}

static void more_than_the_bucket_holds_become_one_digest(void **state)
{
	(void)state;
	many(40);
	assert_int_equal(judge_at(START), NOTIFY_DIGEST);
	assert_int_equal(taken(), 40);
	arrives(START);
	assert_int_equal(n, 0);
	many(3); /* the same jobs again, soon after */
	item[0].id = item[1].id = item[2].id = "news";
	assert_int_equal(judge_at(START + S), NOTIFY_WAIT);
}

static void a_channel_without_digests_waits_for_its_tokens(void **state)
{
	struct notify_rules plain = rules;
	size_t sent = 0;
	(void)state;
	plain.digest = false;
	many(20);
	while (judge_with(&plain, START) == NOTIFY_SEND) {
		assert_int_equal(taken(), 1);
		arrives(START);
		sent++;
	}
	assert_int_equal(sent, 15);
	assert_int_equal(step.act, NOTIFY_WAIT);
	assert_true(step.until_ms > START + 3 * S && step.until_ms <= START + 5 * S); /* 15 a minute: one in 4 s */
	assert_int_equal(judge_with(&plain, step.until_ms), NOTIFY_SEND);
}

static void failures_are_retried_ever_later_and_not_all_at_once(void **state)
{
	int64_t now = START, before = 0;
	(void)state;
	wait_for_sending("job/crash", "job.1");
	for (int i = 0; i < 20; i++) {
		assert_int_equal(judge_at(now), NOTIFY_SEND);
		notify_failed(&d, now, 0, 1.0);
		assert_int_equal(judge_at(now), NOTIFY_WAIT);
		int64_t wait = step.until_ms - now;
		assert_true(wait >= before && wait <= NOTIFY_BACKOFF_MAX_MS);
		before = wait;
		now = step.until_ms;
	}
	assert_true(before == NOTIFY_BACKOFF_MAX_MS);
	notify_failed(&d, now, 0, 0.0);
	assert_true(d.retry_ms - now == NOTIFY_BACKOFF_MAX_MS / 2);
	assert_int_equal(judge_at(d.retry_ms), NOTIFY_SEND);
	arrives(d.retry_ms);
	assert_int_equal(d.fails, 0);
}

static void the_server_says_when_to_come_again_within_an_hour(void **state)
{
	(void)state;
	wait_for_sending("job/crash", "job.1");
	notify_failed(&d, START, 77 * S, 0.5);
	assert_int_equal(judge_at(START + 76 * S), NOTIFY_WAIT);
	assert_int_equal(judge_at(START + 77 * S), NOTIFY_SEND);
	notify_failed(&d, START, INT64_C(10000000) * S, 0.5);
	assert_true(d.retry_ms == START + NOTIFY_RETRY_AFTER_MAX_MS);
}

static void a_clock_that_was_set_back_holds_nothing_up(void **state)
{
	const int64_t year = INT64_C(365) * 24 * 3600 * S;
	(void)state;
	wait_for_sending("job/crash", "job.1");
	(void)judge_at(START);
	arrives(START);
	notify_failed(&d, START, 0, 1.0);
	wait_for_sending("job/crash", "job.2");
	assert_int_equal(judge_at(START - year), NOTIFY_SEND);
	arrives(START - year);
	for (int i = 0; i < 50; i++)
		notify_refused(&d, &rules, START); /* all tokens are used, in the future */
	wait_for_sending("other/crash", "other.1");
	assert_int_equal(judge_at(START - year), NOTIFY_SEND);
}

static void more_keys_than_can_be_remembered_forget_the_oldest_closed_one(void **state)
{
	static char keys[DELIVERY_GROUPS + 10][24];
	(void)state;
	struct notify_rules quick = rules;
	quick.per_minute = 6000;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		TEXT_FORMAT(keys[i], "key%zu/crash", i);
		wait_for_sending(keys[i], keys[i]);
		assert_int_equal(judge_with(&quick, START + (int64_t)i), NOTIFY_SEND);
		notify_delivered(&d, &quick, item, n, &step, START + (int64_t)i);
		remove_taken();
	}
	assert_int_equal(d.n, DELIVERY_GROUPS);
	is_over(keys[ARRAY_SIZE(keys) - 1], "r");
	assert_int_equal(judge_with(&quick, START + S), NOTIFY_SEND); /* it is known */
	n = 0;
	is_over(keys[0], "r");
	assert_int_equal(judge_with(&quick, START + S), NOTIFY_DROP); /* it is not, any more */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_waits_so_nothing_is_done, fresh),
		cmocka_unit_test_setup(the_first_notice_goes_out_at_once_and_more_of_it_are_gathered, fresh),
		cmocka_unit_test_setup(gathering_never_takes_longer_than_the_repeat_interval, fresh),
		cmocka_unit_test_setup(the_same_notice_again_is_a_reminder_only_after_the_repeat_interval, fresh),
		cmocka_unit_test_setup(what_is_over_is_said_once_and_only_if_it_was_told, fresh),
		cmocka_unit_test_setup(news_that_is_over_before_it_could_be_sent_is_told_in_order, fresh),
		cmocka_unit_test_setup(an_update_that_waits_gives_way_to_the_end, fresh),
		cmocka_unit_test_setup(more_than_the_bucket_holds_become_one_digest, fresh),
		cmocka_unit_test_setup(a_channel_without_digests_waits_for_its_tokens, fresh),
		cmocka_unit_test_setup(failures_are_retried_ever_later_and_not_all_at_once, fresh),
		cmocka_unit_test_setup(the_server_says_when_to_come_again_within_an_hour, fresh),
		cmocka_unit_test_setup(a_clock_that_was_set_back_holds_nothing_up, fresh),
		cmocka_unit_test_setup(more_keys_than_can_be_remembered_forget_the_oldest_closed_one, fresh),
	};
	return cmocka_run_group_tests_name("judge/notify", tests, NULL, NULL);
}
