/* Evidence that is complete stays so until it has been judged: whoever judges may have to wait, or may not be heard. */
#include "testing.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/hang/hangevidence.h"
#include "agent/host/world_open.h"

static struct world world;
static struct procstats *procstats;
static struct hangsample sample;
static struct hang_job job;
static struct liveness_set liveness;
static struct liveness_sample seen;
static struct hangevidence evidence;

static int begin(void **state)
{
	struct fault f;
	pid_t pid = fork();
	(void)state;
	if (pid == 0)
		for (;;)
			pause();
	if (pid < 0 || world_open(NULL, &world, &f) != 0)
		return -1;
	procstats = procstats_new(&world, 64);
	job = (struct hang_job){.active = true, .root = pid, .root_is_ours = true};
	if (!procstats || !hangsample_init(&sample, procstats, NULL))
		return -1;
	hangsample_begin(&sample, &job);
	return 0;
}

static int end(void **state)
{
	(void)state;
	hangevidence_end(&evidence);
	(void)kill(job.root, SIGKILL);
	(void)waitpid(job.root, NULL, 0);
	return 0;
}

static bool gathered(void)
{
	uint64_t until = world.mono_ns() + 20 * NS_PER_S;
	while (world.mono_ns() < until)
		if (hangevidence_step(&evidence, &world, &sample))
			return true;
	return false;
}

static void what_is_complete_is_so_when_asked_again(void **state)
{
	struct hang_step step = {.want = HANG_WANT_STACKS | HANG_WANT_BOOK, .dumps = 1};
	uint64_t thread_ns = NS_PER_S;
	(void)state;
	struct hangrules *cause = hangrules_new(&world, "", NULL, &job, world.unix_ms());
	assert_non_null(cause);
	const struct hangevidence_tools tools = {.rules = cause};
	hangsample_take(&sample, &world, &job, HANGSAMPLE_FAST, &thread_ns, NULL, &seen);
	liveness_take(&liveness, &seen);
	hangevidence_begin(&evidence, &step, &sample, &liveness, &tools, world.mono_ns());
	assert_true(gathered());
	const struct rulegather_result *book = evidence.book;
	assert_non_null(book);
	size_t blind = evidence.hcase.n_unavailable;
	evidence.next_ns = 0;
	assert_true(gathered());
	assert_ptr_equal(evidence.book, book);
	assert_int_equal(evidence.hcase.n_unavailable, blind);
	assert_int_equal(evidence.hcase.n_dumps, 1);
	hangevidence_end(&evidence);
	hangrules_free(cause);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_complete_is_so_when_asked_again),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
