#include "testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/base.h"
#include "base/buf.h"
#include "cli/config/config.h"

struct opts {
	const char *name, *state, *config;
	uint32_t retries;
	uint64_t limit;
	bool freeze;
	struct option_list notify;
};

static const struct option table[] = {
	{.name = "name", .type = OPTION_TEXT, .help = "x", .offset = offsetof(struct opts, name)},
	{.name = "config", .type = OPTION_TEXT, .help = "x", .offset = offsetof(struct opts, config), .no_key = true},
	{.name = "state", .type = OPTION_TEXT, .help = "x", .offset = offsetof(struct opts, state)},
	{.name = "retries", .type = OPTION_U32, .help = "x", .offset = offsetof(struct opts, retries)},
	{.name = "memory-limit", .type = OPTION_SIZE, .help = "x", .offset = offsetof(struct opts, limit)},
	{.name = "[no-]freeze", .type = OPTION_FLAG, .help = "x", .offset = offsetof(struct opts, freeze)},
	{.name = "notify", .type = OPTION_LIST, .help = "x", .offset = offsetof(struct opts, notify)},
	{.name = NULL},
};
static const struct command run = {.name = "run", .options = table, .options_size = sizeof(struct opts)};
static const struct command agent = {.name = "agent", .options = table, .options_size = sizeof(struct opts)};
static const struct command jobs = {.name = "jobs", .options = table, .options_size = sizeof(struct opts)};
static const struct command *const all[] = {&run, &agent, &jobs, NULL};

static char dir[64], note[256];
static struct fault fault;

static int make_dir(void **state)
{
	(void)state;
	TEXT_COPY(dir, "/tmp/vigil-config-XXXXXX");
	if (!mkdtemp(dir) || chdir(dir) < 0 || mkdir("vigil", 0700) < 0)
		return -1;
	setenv("XDG_CONFIG_HOME", dir, 1);
	unsetenv("VIGIL_CONFIG");
	return 0;
}

static int drop_dir(void **state)
{
	(void)state;
	(void)unlink("vigil/vigil.yaml");
	(void)unlink("vigil.yaml");
	(void)unlink("one.yaml");
	(void)rmdir("vigil");
	return chdir("/") < 0 ? -1 : rmdir(dir);
}

static void write_file(const char *path, const char *text, size_t len, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void write_text(const char *path, const char *text)
{
	write_file(path, text, strlen(text), 0600);
}

/* Read one file as if it were of that kind; the result of reading or else of checking. */
static int judge(const char *text, enum config_kind kind)
{
	cleanup(config_done) struct config c = {.entries = NULL};
	fault = (struct fault){.text = ""};
	write_text("one.yaml", text);
	int r = config_add_file(&c, "one.yaml", kind, &fault);
	return r < 0 ? r : config_check(&c, all, &fault);
}

static void expect_fault(const char *yaml, const char *text)
{
	assert_true(judge(yaml, CONFIG_USER) < 0);
	if (strcmp(fault.text, text) != 0)
		print_message("got: %s\n", fault.text);
	assert_string_equal(fault.text, text);
	assert_string_equal(fault.file, "one.yaml");
}

static void keys_are_the_names_of_the_options(void **state)
{
	(void)state;
	cleanup(config_done) struct config c = {.entries = NULL};
	write_text("one.yaml", "# mine\nstate: /data/vigil\nrun:\n  name: digits\n  retries: 3\n  memory-limit: 2G\n"
			       "  freeze: no\n  notify: [slack, mail]\nagent:\n");
	assert_int_equal(config_add_file(&c, "one.yaml", CONFIG_NAMED, &fault), 0);
	assert_int_equal(config_check(&c, all, &fault), 0);
	struct opts o = {.freeze = true, .retries = 1};
	assert_int_equal(config_apply(&c, &run, &o, &fault), 0);
	assert_string_equal(o.name, "digits");
	assert_string_equal(o.state, "/data/vigil");
	assert_int_equal(o.retries, 3);
	assert_true(o.limit == 2 * GIB);
	assert_false(o.freeze);
	assert_int_equal(o.notify.n, 2);
	assert_string_equal(o.notify.item[1], "mail");
	struct opts other = {.freeze = true, .retries = 1};
	assert_int_equal(config_apply(&c, &jobs, &other, &fault), 0); /* a reading command: state alone */
	assert_string_equal(other.state, "/data/vigil");
	assert_null(other.name);
	assert_int_equal(other.retries, 1);
}

static void mistakes_are_told_with_their_place(void **state)
{
	(void)state;
	expect_fault("run:\n  retires: 3\n",
		     "one.yaml:2:3: unknown key 'retires' in section 'run'; did you mean 'retries'?");
	assert_int_equal(fault.line, 2);
	assert_int_equal(fault.column, 3);
	expect_fault("run:\n  zzzzzz: 3\n",
		     "one.yaml:2:3: unknown key 'zzzzzz' in section 'run'; 'vigil run --help' lists the options");
	expect_fault("rnu:\n  retries: 3\n", "one.yaml:2:3: unknown section 'rnu'; did you mean 'run'?");
	expect_fault("jobs:\n  name: x\n",
		     "one.yaml:2:3: unknown section 'jobs'; sections are named after commands: run, "
		     "agent …");
	expect_fault("retries: 3\n", "one.yaml:1:1: unknown section 'retries'; sections are named after commands: run, "
				     "agent …");
	expect_fault("run: 3\n", "one.yaml:1:1: a section with keys below it was expected here");
	expect_fault("run:\n  retries: some\n",
		     "one.yaml:2:3: retries: 'some' is not a number; a whole number such as 4 was expected");
	expect_fault("run:\n  name: {a: b}\n", "one.yaml:2:9: a plain value or a list of them was expected here");
	expect_fault("run:\n  notify: [a, [b]]\n", "one.yaml:2:15: a list may hold plain values only");
	expect_fault("- run\n", "one.yaml:1:1: sections such as 'run:' were expected here");
	expect_fault("run:\n  [a]: b\n", "one.yaml:2:3: the name of an option was expected here");
	assert_true(judge("run:\n\tname: x\n", CONFIG_USER) < 0);
	assert_non_null(strstr(fault.text, "one.yaml:2:1: not valid YAML"));
	assert_true(judge("run: {\n", CONFIG_USER) < 0);
	assert_non_null(strstr(fault.text, "not valid YAML"));
}

static void an_empty_file_says_nothing(void **state)
{
	(void)state;
	assert_int_equal(judge("", CONFIG_USER), 0);
	assert_int_equal(judge("# only words\n", CONFIG_USER), 0);
	assert_int_equal(judge("---\n", CONFIG_USER), 0);
	assert_int_equal(judge("run:\n", CONFIG_USER), 0);
}

static void any_bytes_are_survived(void **state)
{
	(void)state;
	static const char garbage[] = "\xff\xfe\0\0run:\0 x\xc3(\n\x80";
	write_file("one.yaml", garbage, sizeof(garbage), 0600);
	cleanup(config_done) struct config c = {.entries = NULL};
	assert_true(config_add_file(&c, "one.yaml", CONFIG_USER, &fault) < 0);
	write_file("one.yaml", "run:\n  name: \"a\\0b\"\n", 19, 0600);
	assert_true(config_add_file(&c, "one.yaml", CONFIG_USER, &fault) < 0);
	assert_true(config_add_file(&c, "absent.yaml", CONFIG_USER, &fault) == -ENOENT);
	assert_non_null(strstr(fault.text, "cannot read the configuration absent.yaml"));
}

static void the_project_comes_before_the_user(void **state)
{
	(void)state;
	cleanup(config_done) struct config c = {.entries = NULL};
	write_text("vigil/vigil.yaml", "run:\n  name: mine\n  retries: 2\n");
	write_text("vigil.yaml", "run:\n  name: project\n");
	assert_int_equal(config_load(&c, NULL, note, &fault), 0);
	assert_string_equal(note, "");
	assert_int_equal(config_check(&c, all, &fault), 0);
	struct opts o = {.name = NULL};
	assert_int_equal(config_apply(&c, &run, &o, &fault), 0);
	assert_string_equal(o.name, "project");
	assert_int_equal(o.retries, 2);
	const struct config_entry *e = config_find(&c, "run", "name");
	assert_non_null(e);
	assert_string_equal(e->file, "vigil.yaml");
	assert_int_equal(e->line, 2);
}

static void one_named_file_stands_for_all(void **state)
{
	(void)state;
	cleanup(config_done) struct config c = {.entries = NULL};
	write_text("vigil.yaml", "run:\n  name: project\n");
	write_text("one.yaml", "agent:\n  retries: 9\n");
	setenv("VIGIL_CONFIG", "one.yaml", 1);
	assert_int_equal(config_load(&c, NULL, note, &fault), 0);
	assert_int_equal(c.n_files, 1);
	assert_null(config_find(&c, "run", "name"));
	setenv("VIGIL_CONFIG", "/nowhere/vigil.yaml", 1);
	assert_int_equal(config_load(&c, NULL, note, &fault), -ENOENT);
	assert_non_null(strstr(fault.text, "/nowhere/vigil.yaml"));
	assert_int_equal(config_load(&c, "one.yaml", note, &fault), 0); /* the flag comes before the environment */
	unsetenv("VIGIL_CONFIG");
	assert_int_equal(config_load(&c, "absent.yaml", note, &fault), -ENOENT);
}

/* Root starts what a configuration names, so only root may have written it. */
static void root_refuses_a_named_file_of_others(void **state)
{
	(void)state;
	cleanup(config_done) struct config c = {.entries = NULL};
	int refused = geteuid() == 0 ? -EPERM : 0;
	write_file("one.yaml", "run:\n  name: x\n", 15, 0602);
	assert_int_equal(config_load(&c, "one.yaml", note, &fault), refused);
	assert_true(!refused || strstr(fault.text, "one.yaml is refused: everybody may write to it"));
	assert_int_equal(chmod("one.yaml", 0640), 0);
	assert_int_equal(config_load(&c, "one.yaml", note, &fault), 0);
	if (!refused)
		return;
	assert_int_equal(chown("one.yaml", 0, 65534), 0);
	assert_int_equal(config_load(&c, "one.yaml", note, &fault), 0);
	assert_int_equal(chmod("one.yaml", 0660), 0);
	assert_int_equal(config_load(&c, "one.yaml", note, &fault), refused);
	assert_non_null(strstr(fault.text, "its group may write to it"));
	assert_int_equal(chown("one.yaml", 65534, 0), 0);
	assert_int_equal(chmod("one.yaml", 0600), 0);
	setenv("VIGIL_CONFIG", "one.yaml", 1);
	assert_int_equal(config_load(&c, NULL, note, &fault), refused);
	assert_non_null(strstr(fault.text, "it belongs to another user"));
	unsetenv("VIGIL_CONFIG");
}

static void a_file_does_not_name_another_one(void **state)
{
	(void)state;
	assert_true(judge("agent:\n  config: other.yaml\n", CONFIG_USER) < 0);
	assert_non_null(strstr(fault.text, "2:3: a file cannot name another one; use --config or VIGIL_CONFIG"));
}

static void a_project_may_not_reach_beyond_its_run(void **state)
{
	(void)state;
	assert_int_equal(judge("run:\n  retries: 1\n", CONFIG_PROJECT), 0);
	assert_true(judge("agent:\n  retries: 1\n", CONFIG_PROJECT) < 0);
	assert_non_null(strstr(fault.text, "may only have the sections 'run' and 'map'"));
	assert_true(judge("state: /etc\n", CONFIG_PROJECT) < 0);
	assert_non_null(strstr(fault.text, "may not choose the state directory"));
	assert_true(judge("run:\n  state: /etc\n", CONFIG_PROJECT) < 0);
	assert_non_null(strstr(fault.text, "may not choose the state directory"));
}

static void a_project_file_of_others_is_not_used(void **state)
{
	(void)state;
	cleanup(config_done) struct config c = {.entries = NULL};
	write_file("vigil.yaml", "run:\n  name: x\n", 15, 0666);
	assert_int_equal(config_load(&c, NULL, note, &fault), 0);
	assert_int_equal(c.n, 0);
	assert_non_null(strstr(note, "everybody may write to it"));
	write_text("vigil.yaml", "run:\n  name: x\n");
	assert_int_equal(chmod("vigil.yaml", 0600), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown("vigil.yaml", 65534, 65534), 0);
		assert_int_equal(config_load(&c, NULL, note, &fault), 0);
		assert_int_equal(c.n, 0);
		assert_non_null(strstr(note, "belongs to another user"));
	}
}

#define CONFIG_TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONFIG_TEST(keys_are_the_names_of_the_options),
		CONFIG_TEST(mistakes_are_told_with_their_place),
		CONFIG_TEST(an_empty_file_says_nothing),
		CONFIG_TEST(any_bytes_are_survived),
		CONFIG_TEST(the_project_comes_before_the_user),
		CONFIG_TEST(one_named_file_stands_for_all),
		CONFIG_TEST(root_refuses_a_named_file_of_others),
		CONFIG_TEST(a_file_does_not_name_another_one),
		CONFIG_TEST(a_project_may_not_reach_beyond_its_run),
		CONFIG_TEST(a_project_file_of_others_is_not_used),
	};
	return cmocka_run_group_tests_name("cli/config", tests, NULL, NULL);
}
