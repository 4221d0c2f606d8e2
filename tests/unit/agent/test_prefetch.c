#include "testing.h"
#include "world_fixture.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/incident/prefetch.h"
#include "base/clock.h"

#define HELD (24 * MIB)

/* A child that holds as much memory of its own, and as much in a memfd. */
static pid_t holder_start(void)
{
	int up[2];
	char c;
	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		int fd = memfd_create("tensors", MFD_CLOEXEC);
		char *own = mmap(NULL, HELD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (fd < 0 || ftruncate(fd, HELD) != 0 || own == MAP_FAILED)
			_exit(1);
		char *shared = mmap(NULL, HELD, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (shared == MAP_FAILED)
			_exit(1);
		memset(own, 1, HELD);
		memset(shared, 1, HELD);
		if (write(up[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(up[0], &c, 1), 1);
	close(up[0]);
	close(up[1]);
	return pid;
}

static void end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

static void wait_for_round(struct prefetch *f, const struct world *w, uint32_t round)
{
	uint64_t end_ns = w->mono_ns() + 20 * NS_PER_S;
	while (prefetch_rounds(f) < round && w->mono_ns() < end_ns)
		(void)sched_yield();
	assert_int_equal(prefetch_rounds(f), round);
}

static const struct incident_shm *shm_of(const struct incident *in, const char *part)
{
	for (size_t i = 0; i < in->n_shm; i++)
		if (strstr(in->shm[i].path, part))
			return &in->shm[i];
	return NULL;
}

static void what_a_victim_held_is_known_when_it_is_gone(void **state)
{
	(void)state;
	static struct incident in;
	struct world w = live_world();
	struct prefetch *f = prefetch_new(&w);
	char pid_text[16];
	pid_t pid = holder_start();
	TEXT_FORMAT(pid_text, "%d", (int)pid);
	const pid_t pids[] = {pid, 0, 0x7ffffff0};
	prefetch_ask(f, pids, ARRAY_SIZE(pids));
	wait_for_round(f, &w, 1);
	prefetch_ask(f, pids, ARRAY_SIZE(pids));
	assert_int_equal(prefetch_rounds(f), 1); /* the last one is young */
	end(pid);
	memset(&in, 0, sizeof(in));
	in.time_unix_ms = w.unix_ms() + 1500;
	in.n_top = 1;
	in.top[0] = (struct incident_process){.pid = pid, .rss_bytes = 2 * HELD};
	prefetch_tell(f, &w, NULL, &in);
	assert_true(in.top[0].has_pss);
	assert_in_range(in.top[0].private_bytes, HELD, 3 * HELD);
	assert_in_range(in.top[0].pss_age_ms, 1500, 30000);
	const struct incident_shm *s = shm_of(&in, "tensors");
	if (s) { /* not where others' processes may not be looked at: then nobody can say that it is gone */
		assert_true(s->freed);
		assert_int_equal(s->bytes, HELD);
		assert_string_equal(s->owners, pid_text);
	}
	prefetch_free(f);
	fixture_close(&w);
}

static void old_sizes_are_not_told(void **state)
{
	(void)state;
	static struct incident in;
	struct world w = live_world();
	struct prefetch *f = prefetch_new(&w);
	pid_t pid = holder_start();
	prefetch_ask(f, &pid, 1);
	wait_for_round(f, &w, 1);
	memset(&in, 0, sizeof(in));
	in.time_unix_ms = w.unix_ms() + 61000;
	in.n_top = 1;
	in.top[0] = (struct incident_process){.pid = pid};
	prefetch_tell(f, &w, NULL, &in);
	assert_false(in.top[0].has_pss);
	end(pid);
	prefetch_free(f);
	fixture_close(&w);
}

static void nobody_is_asked_and_nothing_is_known(void **state)
{
	(void)state;
	static struct incident in;
	struct world w = live_world();
	struct prefetch *f = prefetch_new(&w);
	const pid_t none[] = {0, 0};
	prefetch_ask(f, none, ARRAY_SIZE(none));
	assert_int_equal(prefetch_rounds(f), 0);
	memset(&in, 0, sizeof(in));
	prefetch_tell(NULL, &w, NULL, &in);
	prefetch_free(f);
	prefetch_free(NULL);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_victim_held_is_known_when_it_is_gone),
		cmocka_unit_test(old_sizes_are_not_told),
		cmocka_unit_test(nobody_is_asked_and_nothing_is_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
