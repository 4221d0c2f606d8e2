/* Evidence that is complete stays so until it has been judged: whoever judges may have to wait, or may not be heard. */
#include "testing.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/hang/hanggather.h"
#include "agent/host/world_open.h"

static struct world world;
static struct vitals *vitals;
static struct hangeye eye;
static struct hang_job job;
static struct pulses pulses;
static struct pulse_look seen;
static struct hanggather gather;

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
	vitals = vitals_new(&world, 64);
	job = (struct hang_job){.active = true, .root = pid, .root_is_ours = true};
	if (!vitals || !hangeye_init(&eye, vitals, NULL))
		return -1;
	hangeye_begin(&eye, &job);
	return 0;
}

static int end(void **state)
{
	(void)state;
	hanggather_end(&gather);
	(void)kill(job.root, SIGKILL);
	(void)waitpid(job.root, NULL, 0);
	return 0;
}

static bool gathered(void)
{
	uint64_t until = world.mono_ns() + 20 * NS_PER_S;
	while (world.mono_ns() < until)
		if (hanggather_step(&gather, &world, &eye))
			return true;
	return false;
}

static void what_is_complete_is_so_when_asked_again(void **state)
{
	struct hang_step step = {.want = HANG_WANT_STACKS | HANG_WANT_BOOK, .dumps = 1};
	uint64_t thread_ns = NS_PER_S;
	(void)state;
	struct hangcause *cause = hangcause_new(&world, "", NULL, &job, world.unix_ms());
	assert_non_null(cause);
	hangeye_look(&eye, &world, &job, HANGEYE_ANXIOUS, &thread_ns, NULL, &seen);
	pulse_look_at(&pulses, &seen);
	hanggather_begin(&gather, &step, &eye, &pulses, cause, world.mono_ns());
	assert_true(gathered());
	const struct causegather_result *book = gather.book;
	assert_non_null(book);
	size_t blind = gather.hcase.n_blind;
	gather.next_ns = 0;
	assert_true(gathered());
	assert_ptr_equal(gather.book, book);
	assert_int_equal(gather.hcase.n_blind, blind);
	assert_int_equal(gather.hcase.n_dumps, 1);
	hanggather_end(&gather);
	hangcause_free(cause);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_complete_is_so_when_asked_again),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
