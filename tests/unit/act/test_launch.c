#include "agent/scratch_fixture.h"

#include <poll.h>
#include <stdlib.h>

#include "act/launch.h"

/* Runs a command, reads both outputs to their end, and returns the wait status. */
static int run(const struct launch *l, char out[static 256], char err[static 256])
{
	struct launched c;
	int e = 0;
	assert_int_equal(launch(l, &c, &e), 0);
	const int fds[] = {c.out_fd, c.err_fd};
	char *const texts[] = {out, err};
	for (int i = 0; i < 2; i++) {
		size_t len = 0;
		for (ssize_t n = 1; n > 0 && len < 255;) {
			struct pollfd p = {.fd = fds[i], .events = POLLIN};
			assert_int_equal(poll(&p, 1, 20000), 1);
			n = read(fds[i], texts[i] + len, 255 - len);
			len += n > 0 ? (size_t)n : 0;
		}
		texts[i][len] = '\0';
	}
	int status = -1;
	assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
	closep(&c.pidfd);
	closep(&c.out_fd);
	closep(&c.err_fd);
	return status;
}

static int run_shell(const char *script, const char *const *env, size_t n_env, char out[static 256],
		     char err[static 256])
{
	char text[256];
	TEXT_COPY(text, script);
	char sh[] = "sh", c[] = "-c";
	char *const argv[] = {sh, c, text, NULL};
	return run(&(struct launch){.argv = argv, .env = env, .n_env = n_env}, out, err);
}

static void the_outputs_come_apart_and_the_status_is_the_childs(void **state)
{
	(void)state;
	char out[256], err[256];
	int status = run_shell("echo one; echo two >&2; exit 7", NULL, 0, out, err);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	assert_string_equal(out, "one\n");
	assert_string_equal(err, "two\n");
}

static void variables_are_added_and_replaced(void **state)
{
	(void)state;
	static const char *const env[] = {"VIGIL_TEST_A=new", "VIGIL_TEST_NEW="};
	char out[256], err[256];
	assert_int_equal(setenv("VIGIL_TEST_A", "old", 1), 0);
	assert_int_equal(setenv("VIGIL_TEST_AB", "kept", 1), 0);
	run_shell("echo $VIGIL_TEST_A ${VIGIL_TEST_NEW-unset} $VIGIL_TEST_AB", env, 2, out, err);
	assert_string_equal(out, "new kept\n");
	/* without a shell, which would pass on one of two */
	char grep[] = "grep", count[] = "-zc", what[] = "^VIGIL_TEST_A=", file[] = "/proc/self/environ";
	char *const argv[] = {grep, count, what, file, NULL};
	run(&(struct launch){.argv = argv, .env = env, .n_env = 2}, out, err);
	assert_string_equal(out, "1\n");
	assert_string_equal(getenv("VIGIL_TEST_A"), "old");
}

static void input_is_ours_only_if_it_is_to_be_kept(void **state)
{
	(void)state;
	char out[256], err[256], cat[] = "cat";
	char *const argv[] = {cat, NULL};
	cleanup(closep) int before = dup(STDIN_FILENO);
	cleanup(closep) int file = open(scratch_put("in", "from us", 7, 0600), O_RDONLY | O_CLOEXEC);
	assert_true(dup2(file, STDIN_FILENO) == STDIN_FILENO);
	run(&(struct launch){.argv = argv}, out, err);
	assert_string_equal(out, "");
	run(&(struct launch){.argv = argv, .keep_stdin = true}, out, err);
	assert_string_equal(out, "from us");
	if (before >= 0)
		assert_true(dup2(before, STDIN_FILENO) == STDIN_FILENO);
}

static void a_program_that_is_not_there_is_reported(void **state)
{
	(void)state;
	char none[] = "/nonexistent/program", *const argv[] = {none, NULL};
	struct launched c = {.pid = -7};
	int e = 0;
	assert_int_equal(launch(&(struct launch){.argv = argv}, &c, &e), LAUNCH_NOT_FOUND);
	assert_int_equal(e, ENOENT);
	assert_int_equal(c.pid, -7);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* its child is reaped */
}

static void a_file_that_is_no_program_is_reported(void **state)
{
	(void)state;
	char path[256];
	TEXT_COPY(path, scratch_put("text", "#!/bin/sh\n", 10, 0600));
	char *const argv[] = {path, NULL};
	struct launched c;
	int e = 0;
	assert_int_equal(launch(&(struct launch){.argv = argv}, &c, &e), LAUNCH_NOT_EXECUTABLE);
	assert_int_equal(e, EACCES);
}

static void the_child_has_the_mask_it_is_given_and_the_default_for_pipes(void **state)
{
	(void)state;
	char out[256], err[256], grep[] = "grep", what[] = "^Sig[BI]", file[] = "/proc/self/status";
	char *const argv[] = {grep, what, file, NULL};
	struct launch l = {.argv = argv};
	assert_int_equal(sigemptyset(&l.mask), 0);
	assert_int_equal(sigaddset(&l.mask, SIGUSR2), 0);
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	run(&l, out, err);
	(void)signal(SIGPIPE, before);
	assert_non_null(strstr(out, "SigBlk:\t0000000000000800\n"));
	const char *ignored = strstr(out, "SigIgn:\t");
	assert_non_null(ignored);
	assert_int_equal(strtoull(ignored + 8, NULL, 16) >> (SIGPIPE - 1) & 1, 0);
}

static void write_here(void *ctx)
{
	ignore(file_write_all(*(int *)ctx, "announced ", 10), "the test then fails");
}

static void meanwhile_here(void *ctx)
{
	ignore(file_write_all(*(int *)ctx, "", 0), "nothing is written");
	*(int *)ctx = -1;
}

static void the_child_announces_itself_and_we_work_meanwhile(void **state)
{
	(void)state;
	int pair[2];
	assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
	char out[256], err[256], text[32] = "", yes[] = "true", *const argv[] = {yes, NULL};
	int ctx = pair[1];
	struct launch l = {.argv = argv, .announce = write_here, .meanwhile = meanwhile_here, .ctx = &ctx};
	int status = run(&l, out, err);
	assert_int_equal(status, 0);
	assert_int_equal(ctx, -1); /* meanwhile ran in this process */
	assert_int_equal(read(pair[0], text, sizeof(text) - 1), 10);
	assert_string_equal(text, "announced ");
	closep(&pair[0]);
	closep(&pair[1]);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_outputs_come_apart_and_the_status_is_the_childs),
		cmocka_unit_test(variables_are_added_and_replaced),
		IN_FOLDER(input_is_ours_only_if_it_is_to_be_kept),
		cmocka_unit_test(a_program_that_is_not_there_is_reported),
		IN_FOLDER(a_file_that_is_no_program_is_reported),
		cmocka_unit_test(the_child_has_the_mask_it_is_given_and_the_default_for_pipes),
		cmocka_unit_test(the_child_announces_itself_and_we_work_meanwhile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
