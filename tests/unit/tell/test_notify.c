/* What goes over the wire, kind by kind. Signatures were computed with Python's hmac. */
#include "testing.h"

#include "base/buf.h"
#include "tell/notify/notify.h"

static struct notice notice;
static struct channel channel;
static struct notify_secrets secrets;
static struct notify_request request;
static struct fault fault;

static int prepare(void **state)
{
	static struct incident in;
	(void)state;
	memset(&in, 0, sizeof(in));
	memset(&secrets, 0, sizeof(secrets));
	TEXT_COPY(in.id, "train-ab12.1");
	TEXT_COPY(in.job, "train-ab12");
	TEXT_COPY(in.node, "node-7");
	in.kind = INCIDENT_MEMORY_KILL;
	in.time_unix_ms = 1700000000000;
	TEXT_COPY(in.summary, "rank 3 <was> *ended* & \"freed\"\n[12 GiB](http://evil)");
	TEXT_COPY(in.cause.id, "job_limit");
	TEXT_COPY(in.cause.text, "The job held more than its limit.");
	incident_advice_add(&in, "use smaller batches");
	incident_evidence_add(&in, "ledger", "memory", 0, "job at 0.97 of its limit");
	incident_evidence_add(&in, "not_read", "kmsg", 0, "no rights");
	in.victim.valid = true;
	in.victim.rank = 3;
	notice_of_incident(&in, &notice);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	notify_request_done(&request);
	return 0;
}

static struct js *built_as(enum channel_kind kind, const char *url)
{
	struct js *j = NULL;
	channel_init(&channel, kind);
	TEXT_COPY(channel.name, "c");
	TEXT_COPY(secrets.url, url);
	notify_request_done(&request);
	assert_int_equal(notify_build(&channel, &secrets, &notice, 1700000000123, &request, &fault), 0);
	if (!request.mail)
		assert_int_equal(js_parse(request.body, request.body_len, &j, NULL), 0);
	return j;
}

static const char *header(const char *name)
{
	for (size_t i = 0; i < request.n_headers; i++)
		if (strncmp(request.header[i], name, strlen(name)) == 0)
			return request.header[i] + strlen(name);
	return "";
}

static void a_notice_of_an_incident_says_who_where_and_what_to_do(void **state)
{
	(void)state;
	assert_string_equal(notice.key, "train-ab12/memory_kill");
	assert_string_equal(notice.title, "rank 3 <was> *ended* & \"freed\" [12 GiB](http://evil)");
	assert_int_equal(notice.ranks[0], 3);
	assert_int_equal(notice.n_evidence, 1); /* what was not read is none */
	assert_string_equal(notice.command, "vigil why train-ab12.1");
}

static void a_notice_reads_back_as_it_was_written(void **state)
{
	static struct notice again;
	cleanup(js_freep) struct js *j = notice_json(&notice);
	(void)state;
	assert_int_equal(notice_from_json(j, &again), 0);
	assert_memory_equal(&again, &notice, sizeof(notice));
}

static void a_webhook_is_signed_over_time_and_body(void **state)
{
	TEXT_COPY(secrets.secret, "key");
	(void)state;
	cleanup(js_freep) struct js *j = built_as(CHANNEL_WEBHOOK, "https://h/x");
	assert_string_equal(js_get_text(j, "schema", ""), "vigil.notice/1");
	assert_string_equal(header("X-Vigil-Timestamp: "), "1700000000");
	assert_string_equal(header("X-Vigil-Event-Id: "), "train-ab12.1");
	assert_int_equal(strlen(header("X-Vigil-Signature: sha256=")), 64);
	/* verified against Python's hmac end to end in tests/e2e/test_notify.py */
}

static void slack_gets_its_markup_escaped(void **state)
{
	(void)state;
	cleanup(js_freep) struct js *j = built_as(CHANNEL_SLACK, "https://h/x");
	const char *title = js_get_text(js_at(js_get(j, "attachments"), 0), "title", "");
	assert_non_null(strstr(title, "&lt;was&gt;"));
	assert_non_null(strstr(title, " &amp; "));
	assert_null(strchr(title, '<'));
}

static void feishu_is_signed_with_time_and_secret_as_the_key(void **state)
{
	(void)state;
	TEXT_COPY(secrets.secret, "s3cret");
	cleanup(js_freep) struct js *j = built_as(CHANNEL_FEISHU, "https://h/x");
	assert_string_equal(js_get_text(j, "timestamp", ""), "1700000000");
	assert_string_equal(js_get_text(j, "sign", ""), "IX3eHI0/v/Td7jqJ0ynSEK3Dq5JY3HUZeoeMgVZeZGo=");
	assert_string_equal(js_get_text(j, "msg_type", ""), "text");
	assert_null(strchr(js_get_text(js_get(j, "content"), "text", "<"), '<'));
}

static void dingtalk_is_signed_in_its_address(void **state)
{
	(void)state;
	TEXT_COPY(secrets.secret, "SEC-\xe7\xa7\x98");
	cleanup(js_freep) struct js *j = built_as(CHANNEL_DINGTALK, "https://h/x?access_token=t");
	assert_string_equal(request.url, "https://h/x?access_token=t&timestamp=1700000000123"
					 "&sign=xuinZU8nJ5mki%2ByrWpqYMU2WjPCRK%2FLE8NAtO5ePfqY%3D");
	const char *text = js_get_text(js_get(j, "markdown"), "text", "");
	assert_non_null(strstr(text, "\\[12 GiB\\](http")); /* no link of the job's making */
	assert_non_null(strstr(text, "\\*ended\\*"));
}

static void wecom_gets_no_more_than_it_takes(void **state)
{
	(void)state;
	memset(notice.text, 'x', sizeof(notice.text) - 1);
	for (size_t i = 0; i < NOTICE_ADVICE; i++)
		memset(notice.advice[i], 'y', sizeof(notice.advice[i]) - 1);
	for (size_t i = 0; i < NOTICE_EVIDENCE; i++) {
		for (size_t k = 0; k + 3 < sizeof(notice.evidence[i]); k += 3)
			memcpy(notice.evidence[i] + k, "\xe7\xa7\x98", 3);
	}
	notice.n_advice = NOTICE_ADVICE;
	notice.n_evidence = NOTICE_EVIDENCE;
	cleanup(js_freep) struct js *j = built_as(CHANNEL_WECOM, "https://h/x?key=k");
	const char *content = js_get_text(js_get(j, "markdown"), "content", "");
	assert_in_range(strlen(content), 3000, 4096);
}

static void teams_gets_an_adaptive_card(void **state)
{
	(void)state;
	notice_link(&notice, "https://dash/{job}?i={incident}");
	cleanup(js_freep) struct js *j = built_as(CHANNEL_TEAMS, "https://h/x");
	const struct js *one = js_at(js_get(j, "attachments"), 0), *card = js_get(one, "content");
	assert_string_equal(js_get_text(one, "contentType", ""), "application/vnd.microsoft.card.adaptive");
	assert_string_equal(js_get_text(card, "version", ""), "1.4");
	assert_int_equal(js_len(js_get(card, "body")), 2);
	assert_string_equal(js_get_text(js_at(js_get(card, "actions"), 0), "url", ""),
			    "https://dash/train-ab12?i=train-ab12.1");
}

static void pagerduty_is_triggered_and_resolved_by_the_same_key(void **state)
{
	(void)state;
	TEXT_COPY(secrets.secret, "routing");
	struct js *j = built_as(CHANNEL_PAGERDUTY, "https://h/x");
	assert_string_equal(js_get_text(j, "event_action", ""), "trigger");
	assert_string_equal(js_get_text(j, "routing_key", ""), "routing");
	assert_string_equal(js_get_text(j, "dedup_key", ""), "train-ab12/memory_kill");
	assert_string_equal(js_get_text(js_get(j, "payload"), "severity", ""), "error");
	assert_string_equal(js_get_text(js_get(j, "payload"), "timestamp", ""), "2023-11-14T22:13:20.000Z");
	js_free(j);
	notice_resolve("train-ab12", "node-7", "memory_kill", 1700000001000, &notice);
	j = built_as(CHANNEL_PAGERDUTY, "https://h/x");
	assert_string_equal(js_get_text(j, "event_action", ""), "resolve");
	assert_string_equal(js_get_text(j, "dedup_key", ""), "train-ab12/memory_kill");
	assert_null(js_get(j, "payload"));
	js_free(j);
	secrets.secret[0] = '\0';
	assert_int_equal(notify_build(&channel, &secrets, &notice, 0, &request, &fault), -EINVAL);
}

static void alertmanager_gets_labels_that_stay_and_an_end(void **state)
{
	(void)state;
	struct js *j = built_as(CHANNEL_ALERTMANAGER, "http://h:9093/");
	const struct js *alert = js_at(j, 0), *labels = js_get(alert, "labels");
	assert_string_equal(request.url, "http://h:9093/api/v2/alerts");
	assert_string_equal(js_get_text(labels, "alertname", ""), "VigilMemoryKill");
	assert_string_equal(js_get_text(labels, "job_id", ""), "train-ab12");
	assert_string_equal(js_get_text(alert, "startsAt", ""), "2023-11-14T22:13:20.000Z");
	assert_string_equal(js_get_text(alert, "endsAt", ""), "2023-11-14T23:13:20.123Z");
	assert_null(js_get(labels, "severity")); /* it may change, and would make another alert */
	js_free(j);
	notice_resolve("train-ab12", "node-7", "memory_kill", 1700000000100, &notice);
	j = built_as(CHANNEL_ALERTMANAGER, "http://h:9093/api/v2/alerts");
	assert_string_equal(request.url, "http://h:9093/api/v2/alerts");
	assert_string_equal(js_get_text(js_get(js_at(j, 0), "labels"), "alertname", ""), "VigilMemoryKill");
	assert_string_equal(js_get_text(js_at(j, 0), "endsAt", ""), "2023-11-14T22:13:20.123Z");
	js_free(j);
}

static void mail_keeps_to_lines_and_headers(void **state)
{
	(void)state;
	TEXT_COPY(notice.title, "\xe8\xae\xad\xe7\xbb\x83 died\r\nBcc: everybody@example.org");
	struct js *none = built_as(CHANNEL_EMAIL, "smtp://h");
	assert_null(none);
	assert_true(request.mail);
	assert_null(strstr(request.body, "\nBcc:")); /* whatever the title says, it is encoded */
	assert_non_null(strstr(request.body, "\r\nSubject: =?UTF-8?B?"));
	for (const char *line = request.body, *end; (end = strstr(line, "\r\n")); line = end + 2)
		assert_in_range(end - line, 0, 140);
}

static void digests_list_titles_and_count_them_all(void **state)
{
	static struct notice digest;
	(void)state;
	notice_digest_begin("node-7", 1700000000000, &digest);
	for (int i = 0; i < 100; i++)
		notice_digest_add(&digest, &notice);
	assert_int_equal(digest.count, 100);
	assert_string_equal(digest.title, "100 notices at once");
	assert_int_equal(digest.severity, NOTICE_ERROR);
	notice_fold(&notice, &notice);
	assert_int_equal(notice.count, 2);
	assert_int_equal(notice.n_ranks, 1);
}

static enum notify_outcome outcome(enum channel_kind kind, int status, const char *body, char *why)
{
	struct notify_answer a = {.status = status};
	channel_init(&channel, kind);
	TEXT_COPY(a.body, body);
	a.body_len = strlen(body);
	return notify_outcome(&channel, &a, why, 200);
}

static void answers_are_understood(void **state)
{
	char why[200];
	(void)state;
	assert_int_equal(outcome(CHANNEL_WEBHOOK, 204, "", why), NOTIFY_ARRIVED);
	assert_int_equal(outcome(CHANNEL_PAGERDUTY, 202, "{}", why), NOTIFY_ARRIVED);
	assert_int_equal(outcome(CHANNEL_SLACK, 404, "no_team\nmore", why), NOTIFY_REFUSED);
	assert_string_equal(why, "the server answered 404: no_team");
	assert_int_equal(outcome(CHANNEL_SLACK, 429, "", why), NOTIFY_TRY_AGAIN);
	assert_int_equal(outcome(CHANNEL_SLACK, 503, "", why), NOTIFY_TRY_AGAIN);
	assert_int_equal(outcome(CHANNEL_SLACK, 302, "", why), NOTIFY_REFUSED);
	assert_int_equal(outcome(CHANNEL_FEISHU, 200, "{\"code\":0}", why), NOTIFY_ARRIVED);
	assert_int_equal(outcome(CHANNEL_FEISHU, 200, "{\"code\":19021,\"msg\":\"sign match fail\"}", why),
			 NOTIFY_REFUSED);
	assert_string_equal(why, "the service refused it: code 19021, sign match fail");
	assert_int_equal(outcome(CHANNEL_FEISHU, 200, "{\"code\":11232}", why), NOTIFY_TRY_AGAIN);
	assert_int_equal(outcome(CHANNEL_DINGTALK, 200, "{\"errcode\":310000,\"errmsg\":\"x\"}", why), NOTIFY_REFUSED);
	assert_int_equal(outcome(CHANNEL_WECOM, 200, "{\"errcode\":45009}", why), NOTIFY_TRY_AGAIN);
	assert_int_equal(outcome(CHANNEL_WEBHOOK, 0, "", why), NOTIFY_TRY_AGAIN);
}

static void addresses_are_shown_without_what_may_be_secret(void **state)
{
	static const struct {
		const char *url, *shown;
	} cases[] = {
		{"https://hooks.slack.com/services/T0/B0/xyz", "https://hooks.slack.com/…"},
		{"https://user:pass@host:8443/x?key=1", "https://host:8443/…"},
		{"smtp://mail:587", "smtp://mail:587"},
		{"http://h/", "http://h/"},
		{"https://h?token=1", "https://h/…"},
		{"", ""},
	};
	char text[200];
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(channel_url_mask(cases[i].url, text, sizeof(text)), cases[i].shown);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, prepare, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(a_notice_of_an_incident_says_who_where_and_what_to_do),
		WITH(a_notice_reads_back_as_it_was_written),
		WITH(a_webhook_is_signed_over_time_and_body),
		WITH(slack_gets_its_markup_escaped),
		WITH(feishu_is_signed_with_time_and_secret_as_the_key),
		WITH(dingtalk_is_signed_in_its_address),
		WITH(wecom_gets_no_more_than_it_takes),
		WITH(teams_gets_an_adaptive_card),
		WITH(pagerduty_is_triggered_and_resolved_by_the_same_key),
		WITH(alertmanager_gets_labels_that_stay_and_an_end),
		WITH(mail_keeps_to_lines_and_headers),
		WITH(digests_list_titles_and_count_them_all),
		WITH(answers_are_understood),
		WITH(addresses_are_shown_without_what_may_be_secret),
	};
	return cmocka_run_group_tests_name("tell/notify", tests, NULL, NULL);
}
