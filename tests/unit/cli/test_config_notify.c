#include "cli_fixture.h"

#include "cli/config/config_notify.h"

static struct made_world made;
static struct channels all;
static struct fault fault;

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	return chdir(made.dir);
}

static int end(void **state)
{
	(void)state;
	unsetenv("VIGIL_CONFIG");
	if (chdir("/") < 0)
		return -1;
	made_end(&made);
	return 0;
}

static int read_text(const char *yaml, enum config_kind kind)
{
	cleanup(config_done) struct config c = {.entries = NULL};
	fault = (struct fault){.text = ""};
	made_write(&made, "one.yaml", yaml, strlen(yaml));
	assert_int_equal(config_add_file(&c, "one.yaml", kind, &fault), 0);
	return config_channels(&c, &all, &fault);
}

static void expect_fault(const char *channel, const char *text)
{
	char yaml[1000];
	TEXT_FORMAT(yaml, "notify:\n  - {%s}\n", channel);
	assert_int_equal(read_text(yaml, CONFIG_USER), -EINVAL);
	if (strcmp(fault.text, text) != 0)
		print_message("'%s' gave: %s\n", channel, fault.text);
	assert_string_equal(fault.text, text);
	assert_string_equal(fault.file, "one.yaml");
}

static void every_kind_of_value_is_read(void **state)
{
	(void)state;
	assert_int_equal(
		read_text("notify:\n"
			  "  - name: ops\n    kind: alertmanager\n    url: https://alerts.example.org\n"
			  "    default: no\n    resolved: off\n    severity: error\n    timeout: 3s\n"
			  "    group_wait: 1m\n    per-minute: 4\n    incidents: [hang, crash]\n"
			  "    labels: [team=ml, 'note=a, b']\n"
			  "  - {name: mail, kind: email, url: 'smtp://mail:587', to: ada@example.org, starttls: try}\n",
			  CONFIG_USER),
		0);
	assert_int_equal(all.n, 2);
	const struct channel *c = &all.item[0];
	assert_string_equal(c->name, "ops");
	assert_int_equal(c->kind, CHANNEL_ALERTMANAGER);
	assert_string_equal(c->url, "https://alerts.example.org");
	assert_false(c->by_default);
	assert_false(c->resolved);
	assert_true(c->tls_verify); /* not given */
	assert_int_equal(c->timeout_ms, 3000);
	assert_int_equal(c->group_ms, 60000);
	assert_true(c->per_minute > 3.9 && c->per_minute < 4.1);
	assert_true(c->only_some);
	assert_true(c->only[INCIDENT_HANG] && c->only[INCIDENT_CRASH]);
	assert_false(c->only[INCIDENT_KERNEL_OOM]);
	assert_int_equal(c->labels.n, 2);
	assert_string_equal(c->labels.item[1], "note=a, b"); /* a comma does not end an item */
	assert_int_equal(all.item[1].starttls, CHANNEL_STARTTLS_TRY);
	assert_string_equal(all.item[1].to.item[0], "ada@example.org");
	assert_true(all.item[1].by_default);
}

static void keys_and_kinds_that_are_not_known_are_named(void **state)
{
	(void)state;
	expect_fault(
		"name: a, url: 'https://h/x'",
		"one.yaml:2:6: this channel has no kind: webhook, slack, feishu, dingtalk, wecom, teams, pagerduty, "
		"email, alertmanager or exec");
	expect_fault("name: a, kind: slak", "one.yaml:2:15: unknown kind of channel 'slak'; did you mean 'slack'?");
	expect_fault("name: a, kind: smoke-signals", "one.yaml:2:15: unknown kind of channel 'smoke-signals'; webhook, "
						     "slack, feishu, dingtalk, wecom, teams, "
						     "pagerduty, email, alertmanager and exec are known");
	expect_fault("name: a, kind: slack, ulr: x",
		     "one.yaml:2:28: unknown key 'ulr' of a channel; did you mean 'url'?");
	expect_fault(
		"name: a, kind: slack, zzzzzzzz: x",
		"one.yaml:2:28: unknown key 'zzzzzzzz' of a channel of kind slack; docs/formats/notify.md lists them");
	expect_fault("name: a, kind: slack, argv: [x]", "one.yaml:2:28: channels of kind slack have no 'argv'");
	expect_fault("name: a, kind: slack, url-file: /x, url_file: /y", "one.yaml:2:42: 'url_file' is there twice");
}

static void values_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	expect_fault("name: a, kind: slack, default: maybe",
		     "one.yaml:2:28: default: 'maybe' was found, 'true' or 'false' was expected");
	expect_fault("name: a, kind: slack, repeat: 32d", "one.yaml:2:28: repeat: at most 31d");
	expect_fault("name: a, kind: slack, per-minute: 0",
		     "one.yaml:2:28: per-minute: '0' was found, a number from 1 to 6000 was expected");
	expect_fault("name: a, kind: slack, per-minute: 6001",
		     "one.yaml:2:28: per-minute: '6001' was found, a number from 1 to 6000 was expected");
	expect_fault("name: a, kind: slack, severity: loud",
		     "one.yaml:2:28: severity: 'loud' was found; info, warning, error or critical was expected");
	expect_fault("name: a, kind: slack, incidents: [hangs]",
		     "one.yaml:2:28: 'hangs' is no kind of incident; did you mean 'hang'?");
	expect_fault("name: a, kind: slack, url: \"https://h/\\x07\"",
		     "one.yaml:2:28: url: a control character is in the value");
	expect_fault("name: a, kind: email, starttls: always",
		     "one.yaml:2:28: starttls: 'always' was found; required, try or never was expected");
	expect_fault("name: abcdefghijklmnopqrstuvwxyzabcdef, kind: slack", "one.yaml:2:6: name: longer than 31 bytes");
}

static void a_channel_must_be_whole(void **state)
{
	(void)state;
	expect_fault("name: a b, kind: slack, url: 'https://h/x'",
		     "one.yaml:2:6: a channel's 'name' has 1 to 31 letters, digits, '-' and '_', and does not begin "
		     "with '-'");
	expect_fault("name: none, kind: slack, url: 'https://h/x'",
		     "one.yaml:2:6: a channel cannot be named 'none': --notify none means no channel");
	expect_fault("name: a, kind: slack", "one.yaml:2:6: channel a: 'url' or 'url-file' is missing");
	expect_fault("name: a, kind: slack, url: 'smtp://h'",
		     "one.yaml:2:6: channel a: its url must begin with https:// or http://");
	expect_fault("name: a, kind: email, to: [b@c], url: 'https://h'",
		     "one.yaml:2:6: channel a: its url must begin with smtp:// or smtps://");
	expect_fault("name: a, kind: email, url: 'smtp://h'",
		     "one.yaml:2:6: channel a: 'to' is missing: a list of mail addresses");
	expect_fault("name: a, kind: email, url: 'smtp://h', to: [\"b@c\\r\\nBcc: d@e\"]",
		     "one.yaml:2:6: channel a: 'b@c\r\nBcc: d@e' is no mail address");
	expect_fault("name: a, kind: pagerduty",
		     "one.yaml:2:6: channel a: 'secret-file' is missing: the file with the routing key");
	expect_fault("name: a, kind: exec",
		     "one.yaml:2:6: channel a: 'argv' is missing: a program and its arguments, as a list");
	expect_fault("name: a, kind: slack, url: 'https://h', timeout: 99ms",
		     "one.yaml:2:6: channel a: timeout must be from 100ms to 2m");
	expect_fault("name: a, kind: alertmanager, url: 'https://h', labels: ['1x=y']",
		     "one.yaml:2:6: channel a: label '1x=y': NAME=VALUE was expected");
	expect_fault("name: a, kind: slack, url: 'https://h', link: 'ftp://x'",
		     "one.yaml:2:6: channel a: link must begin with https:// or http://");
}

static void a_later_channel_replaces_one_of_its_name(void **state)
{
	(void)state;
	assert_int_equal(read_text("notify:\n  - {name: a, kind: slack, url: 'https://one/'}\n"
				   "  - {name: b, kind: exec, argv: [/bin/true, 'x, y']}\n"
				   "  - {name: a, kind: teams, url: 'https://two/'}\n",
				   CONFIG_USER),
			 0);
	assert_int_equal(all.n, 2);
	assert_string_equal(all.item[0].url, "https://two/");
	assert_int_equal(all.item[0].kind, CHANNEL_TEAMS);
	assert_string_equal(all.item[1].argv.item[1], "x, y");
}

static void a_project_names_no_channels(void **state)
{
	(void)state;
	assert_int_equal(read_text("notify:\n  - {name: a, kind: exec, argv: [/bin/rm]}\n", CONFIG_PROJECT), 0);
	assert_int_equal(all.n, 0);
}

static size_t choose(const char *names, struct channels **ret)
{
	struct option_list wanted = {.n = 0};
	static char text[100];
	char *rest = text;
	TEXT_COPY(text, names);
	while (*names && rest)
		wanted.item[wanted.n++] = strsep(&rest, ",");
	fault = (struct fault){.text = ""};
	*ret = NULL;
	if (config_channels_chosen(NULL, &wanted, ret, &fault) < 0)
		return SIZE_MAX;
	return *ret ? (*ret)->n : 0;
}

static void a_command_notifies_what_it_names_or_the_defaults(void **state)
{
	(void)state;
	static const char yaml[] = "notify:\n  - {name: ops, kind: slack, url: 'https://one/'}\n"
				   "  - {name: mine, kind: exec, argv: [/bin/true], default: false}\n";
	struct channels *got;
	made_write(&made, "two.yaml", yaml, strlen(yaml));
	setenv("VIGIL_CONFIG", "two.yaml", 1);
	assert_int_equal(choose("", &got), 1);
	assert_string_equal(got->item[0].name, "ops");
	free(got);
	assert_int_equal(choose("mine,ops,mine", &got), 2); /* none twice */
	assert_string_equal(got->item[0].name, "mine");
	free(got);
	assert_int_equal(choose("none", &got), 0);
	assert_null(got);
	assert_int_equal(choose("min", &got), SIZE_MAX);
	assert_string_equal(fault.text, "--notify: there is no channel 'min'; did you mean 'mine'?");
	assert_int_equal(choose("zzzzzz", &got), SIZE_MAX);
	assert_string_equal(
		fault.text,
		"--notify: there is no channel 'zzzzzz'; 'vigil notify list' shows those of your configuration");
	made_write(&made, "two.yaml", "run:\n", 5);
	assert_int_equal(choose("", &got), 0);
	assert_int_equal(choose("ops", &got), SIZE_MAX);
}

static void files_that_everybody_can_read_are_named(void **state)
{
	(void)state;
	char path[100], want[400];
	log_capture();
	made_write(&made, "secret", "x", 1);
	made_write(&made, "ca.pem", "x", 1);
	TEXT_FORMAT(path, "%s/secret", made.dir);
	all = (struct channels){.n = 1};
	struct channel *c = &all.item[0];
	TEXT_COPY(c->name, "a");
	TEXT_COPY(c->secret_file, path);
	TEXT_FORMAT(c->ca_file, "%s/ca.pem", made.dir);
	assert_int_equal(chmod(c->ca_file, 0644), 0); /* a certificate is public */
	config_channels_files(&all, log_warning);
	assert_logged("");
	assert_int_equal(chmod(path, 0644), 0);
	config_channels_files(&all, log_warning);
	TEXT_FORMAT(want, "vigil: channel a: everybody may read %s; chmod o-r it\n", path);
	assert_logged(want);
	assert_int_equal(unlink(path), 0);
	config_channels_files(&all, log_warning);
	TEXT_FORMAT(want, "vigil: channel a: %s cannot be read here: No such file or directory\n", path);
	assert_logged(want);
	log_set_sink(NULL, NULL);
}

#define NOTIFY_TEST(t) cmocka_unit_test_setup_teardown(t, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NOTIFY_TEST(every_kind_of_value_is_read),
		NOTIFY_TEST(keys_and_kinds_that_are_not_known_are_named),
		NOTIFY_TEST(values_that_do_not_fit_are_refused),
		NOTIFY_TEST(a_channel_must_be_whole),
		NOTIFY_TEST(a_later_channel_replaces_one_of_its_name),
		NOTIFY_TEST(a_project_names_no_channels),
		NOTIFY_TEST(a_command_notifies_what_it_names_or_the_defaults),
		NOTIFY_TEST(files_that_everybody_can_read_are_named),
	};
	return cmocka_run_group_tests_name("cli/config_notify", tests, NULL, NULL);
}
