#include "testing.h"
#include "world_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/memory/shmheld.h"

#define HELD (4 * MIB)

static char path[64];

/* A child that maps a file of /dev/shm, which is there from now on. */
static pid_t holder_start(void)
{
	int up[2];
	char c;
	TEXT_FORMAT(path, "/dev/shm/vigil-test-%d", (int)getpid());
	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 || ftruncate(fd, HELD) != 0)
			_exit(1);
		char *p = mmap(NULL, HELD, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			_exit(1);
		memset(p, 1, HELD);
		close(fd);
		if (write(up[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	close(up[1]);
	assert_int_equal(read(up[0], &c, 1), 1);
	close(up[0]);
	return pid;
}

/* Also after a test that failed: what it left would take the places of the next one's. */
static int file_remove(void **state)
{
	(void)state;
	(void)unlink(path);
	return 0;
}

static struct world world_with_shm(void)
{
	struct world w = live_world();
	w.shm_fd = open("/dev/shm", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(w.shm_fd >= 0);
	return w;
}

static const struct incident_shm *row_of(const struct incident *in)
{
	for (size_t i = 0; i < in->n_shm; i++)
		if (strcmp(in->shm[i].path, path) == 0)
			return &in->shm[i];
	return NULL;
}

/* A report looks at all processes for a short time only, which may be too short on a busy machine: until then again. */
static uint64_t patience(const struct world *w)
{
	return w->mono_ns() + 20 * NS_PER_S;
}

static void a_file_left_behind_names_who_held_it(void **state)
{
	(void)state;
	static struct incident in;
	static struct shmheld before[INCIDENT_SHM];
	char holder[16];
	struct world w = world_with_shm();
	pid_t pid = holder_start();
	TEXT_FORMAT(holder, "%d", (int)pid);
	size_t n = shmheld_read(&w, &pid, 1, NS_PER_S, before);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	memset(&in, 0, sizeof(in));
	shmheld_report(&w, before, n, NULL, &in);
	(void)unlink(path);
	const struct incident_shm *s = row_of(&in);
	assert_non_null(s);
	assert_int_equal(s->bytes, HELD);
	assert_false(s->freed);
	assert_memory_equal(s->owners, holder, strlen(holder));
	fixture_close(&w);
}

/* As many as a report has places for, each larger than the job's own. */
static void crowd(bool there)
{
	char other[64];
	for (int i = 0; i < INCIDENT_SHM; i++) {
		TEXT_FORMAT(other, "/dev/shm/vigil-test-other-%d-%d", (int)getpid(), i);
		if (!there) {
			(void)unlink(other);
			continue;
		}
		int fd = open(other, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		assert_true(fd >= 0);
		assert_int_equal(posix_fallocate(fd, 0, 2 * HELD), 0);
		close(fd);
	}
}

static void larger_files_of_others_do_not_hide_the_jobs(void **state)
{
	(void)state;
	static struct incident in;
	static struct shmheld before[INCIDENT_SHM];
	struct world w = world_with_shm();
	pid_t pid = holder_start();
	crowd(true);
	size_t n = shmheld_read(&w, &pid, 1, NS_PER_S, before);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	const struct proc_id ended = {.pid = pid};
	const struct shmheld_job job = {.ended = &ended, .n_ended = 1, .uid = getuid()};
	memset(&in, 0, sizeof(in));
	shmheld_report(&w, before, n, &job, &in);
	crowd(false);
	(void)unlink(path);
	assert_true(n > 0);
	assert_string_equal(before[0].row.path, path);
	assert_non_null(row_of(&in));
	assert_true(row_of(&in)->left);
	assert_int_equal(in.memory.shm_left_bytes, HELD);
	fixture_close(&w);
}

static void what_the_ended_held_and_what_the_job_has_made_is_left(void **state)
{
	(void)state;
	static struct incident in;
	static struct shmheld before[INCIDENT_SHM];
	struct world w = world_with_shm();
	pid_t pid = holder_start();
	size_t n = shmheld_read(&w, &pid, 1, NS_PER_S, before);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	const struct proc_id ended = {.pid = pid}, other = {.pid = pid + 1};
	struct shmheld_job job = {.ended = &ended, .n_ended = 1, .uid = getuid()};
	memset(&in, 0, sizeof(in));
	shmheld_report(&w, before, n, &job, &in);
	assert_true(row_of(&in)->left);
	assert_int_equal(in.memory.shm_left_bytes, HELD);
	/* another process held it, before the job began */
	job = (struct shmheld_job){
		.ended = &other, .n_ended = 1, .uid = getuid(), .since_unix_ms = w.unix_ms() + 60000};
	memset(&in, 0, sizeof(in));
	shmheld_report(&w, before, n, &job, &in);
	assert_false(row_of(&in)->left);
	assert_int_equal(in.memory.shm_left_bytes, 0);
	/* nobody was seen to hold it, and it was made since the job began */
	job.since_unix_ms = w.unix_ms() - 60000;
	memset(&in, 0, sizeof(in));
	shmheld_report(&w, NULL, 0, &job, &in);
	assert_false(row_of(&in)->left); /* by whom? */
	job.charged_bytes = HELD;
	uint64_t deadline_ns = patience(&w);
	do {
		memset(&in, 0, sizeof(in));
		shmheld_report(&w, NULL, 0, &job, &in);
	} while (!(row_of(&in) && row_of(&in)->left) && w.mono_ns() < deadline_ns);
	(void)unlink(path);
	/* whoever may not look at every process of this machine cannot tell */
	assert_true(row_of(&in)->left || geteuid() != 0);
	fixture_close(&w);
}

static void a_file_that_was_never_seen_held_has_nobody(void **state)
{
	(void)state;
	static struct incident in;
	struct world w = world_with_shm();
	pid_t pid = holder_start();
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	memset(&in, 0, sizeof(in));
	shmheld_report(&w, NULL, 0, NULL, &in);
	(void)unlink(path);
	const struct incident_shm *s = row_of(&in);
	assert_non_null(s);
	assert_string_equal(s->owners, "");
	fixture_close(&w);
}

static void who_holds_it_still_is_its_owner(void **state)
{
	(void)state;
	static struct incident in;
	static struct shmheld before[INCIDENT_SHM];
	char holder[16];
	struct world w = world_with_shm();
	pid_t pid = holder_start();
	TEXT_FORMAT(holder, "%d", (int)pid);
	size_t n = shmheld_read(&w, &pid, 1, NS_PER_S, before);
	uint64_t deadline_ns = patience(&w);
	do {
		memset(&in, 0, sizeof(in));
		shmheld_report(&w, before, n, NULL, &in);
	} while (!(row_of(&in) && strcmp(row_of(&in)->owners, holder) == 0) && w.mono_ns() < deadline_ns);
	(void)unlink(path);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	const struct incident_shm *s = row_of(&in);
	assert_non_null(s);
	assert_false(s->orphan);
	assert_string_equal(s->owners, holder);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_file_left_behind_names_who_held_it, file_remove),
		cmocka_unit_test_teardown(larger_files_of_others_do_not_hide_the_jobs, file_remove),
		cmocka_unit_test_teardown(what_the_ended_held_and_what_the_job_has_made_is_left, file_remove),
		cmocka_unit_test_teardown(a_file_that_was_never_seen_held_has_nobody, file_remove),
		cmocka_unit_test_teardown(who_holds_it_still_is_its_owner, file_remove),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
