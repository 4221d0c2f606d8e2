/* Lookups of files that are not there, counted by the kernel. */
#include "testing.h"
#include "world_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>

#include "base/units.h"
#include "sense/proc/lookups.h"

static struct lookups_row row[LOOKUPS_ROWS];

/* Whatever is not possible here is said and skipped; VIGIL_NEED_BPF=1 makes that a failure. */
static struct lookups *opened(const struct world *w)
{
	char why[200] = "";
	struct lookups *k = NULL;
	int r = lookups_open(w, &k, why, sizeof(why));
	if (r == WORLD_ABSENT || r == WORLD_DENIED) {
		assert_null(k);
		assert_true(why[0] != '\0');
		if (getenv("VIGIL_NEED_BPF"))
			fail_msg("%s", why);
		print_message("skipped: %s\n", why);
		skip();
	}
	assert_int_equal(r, 0);
	return k;
}

static const struct lookups_row *row_of(const struct lookups *k, pid_t pid, const char *path)
{
	size_t n = 0;
	assert_int_equal(lookups_take(k, row, LOOKUPS_ROWS, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (row[i].pid == pid && !row[i].calls && !row[i].taken && !row[i].waited &&
		    strcmp(row[i].path, path) == 0)
			return &row[i];
	return NULL;
}

static void a_file_that_is_not_there_is_counted_by_path(void **state)
{
	(void)state;
	struct world w = live_world();
	struct stat st;
	struct lookups *k = opened(&w);
	static const char missing[] = "/tmp/vigil-test/nobody/made/this", other[] = "vigil-test-not-here-either";
	assert_int_equal(lookups_watch(k, getpid()), 0);
	const uint64_t before_ns = w.mono_ns();
	for (int i = 0; i < 3; i++)
		assert_int_equal(stat(missing, &st), -1);
	assert_int_equal(open(missing, O_RDONLY), -1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(stat("/tmp", &st), 0);
	const struct lookups_row *r = row_of(k, getpid(), missing);
	assert_non_null(r);
	assert_int_equal(r->n, 4);
	assert_int_equal(r->tid, getpid());
	assert_true(r->last_ns >= before_ns && r->last_ns <= w.mono_ns());
	assert_false(r->found);
	r = row_of(k, getpid(), "/tmp");
	assert_non_null(r);
	assert_true(r->found);
	assert_int_equal(r->n, 2);
	assert_int_equal(access(other, F_OK), -1);
	r = row_of(k, getpid(), other);
	assert_non_null(r);
	assert_int_equal(r->folder, LOOKUPS_CWD);
	int top = open("/", O_PATH | O_CLOEXEC); /* more than a question */
	assert_null(row_of(k, getpid(), "/"));
	assert_int_equal(faccessat(top, "vigil-test-below", F_OK, 0), -1);
	r = row_of(k, getpid(), "vigil-test-below");
	assert_non_null(r);
	assert_int_equal(r->folder, top);
	close(top);
	lookups_free(k);
}

/* The lock of a child's, tried by two kinds of calls, each time by a descriptor of its own. */
static void a_lock_that_another_has_is_counted_by_file(void **state)
{
	(void)state;
	struct world w = live_world();
	struct lookups *k = opened(&w);
	char name[] = "/tmp/vigil-lookups-lock-XXXXXX", done;
	int to[2], from[2], fd = mkstemp(name);
	struct stat st;
	assert_true(fd >= 0 && fstat(fd, &st) == 0 && pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
	struct flock all = {.l_type = F_WRLCK};
	const pid_t child = fork();
	if (child == 0) {
		int own = open(name, O_RDWR | O_CLOEXEC);
		bool have = own >= 0 && flock(own, LOCK_EX) == 0 && fcntl(own, F_SETLK, &all) == 0;
		_exit(!have || write(from[1], "1", 1) != 1 || read(to[0], &done, 1) != 1);
	}
	assert_int_equal(read(from[0], &done, 1), 1);
	assert_int_equal(lookups_watch(k, getpid()), 0);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
	for (int i = 0; i < 2; i++) {
		int again = open(name, O_RDWR | O_CLOEXEC);
		assert_int_equal(fcntl(again, F_SETLK, &all), -1);
		close(again);
	}
	assert_int_equal(write(to[1], "1", 1), 1);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0); /* it is had now */
	const struct lookups_row *r = row_of(k, getpid(), "");
	assert_non_null(r);
	assert_int_equal(r->n, 3);
	assert_int_equal(r->inode, st.st_ino);
	assert_int_equal(r->dev, (major(st.st_dev) << 20) | minor(st.st_dev));
	assert_false(r->found);
	close(fd);
	unlink(name);
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(from[i]);
	}
	lookups_free(k);
}

static void what_is_too_long_is_not_told(void **state)
{
	(void)state;
	struct world w = live_world();
	struct lookups *k = opened(&w);
	char path[LOOKUPS_PATH + 8];
	size_t n = 0;
	assert_int_equal(lookups_watch(k, getpid()), 0);
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[LOOKUPS_PATH] = '\0';
	assert_int_equal(access(path, F_OK), -1);
	path[LOOKUPS_PATH - 2] = '\0';
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(lookups_take(k, row, LOOKUPS_ROWS, &n), 0);
	size_t own = 0;
	for (size_t i = 0; i < n; i++)
		own += row[i].pid == getpid() && row[i].path[1] == 'x';
	assert_int_equal(own, 1);
	assert_non_null(row_of(k, getpid(), path));
	lookups_free(k);
}

static void who_is_not_watched_is_not_counted(void **state)
{
	(void)state;
	struct world w = live_world();
	struct lookups *k = opened(&w);
	static const char missing[] = "/vigil-test-of-a-child";
	int status;
	const pid_t child = fork();
	if (child == 0)
		_exit(access(missing, F_OK) == 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_null(row_of(k, child, missing));
	lookups_free(k);
}

static void on_again_it_has_forgotten(void **state)
{
	(void)state;
	struct world w = live_world();
	struct lookups *k = opened(&w);
	static const char missing[] = "/vigil-test-before", later[] = "/vigil-test-after";
	assert_int_equal(lookups_watch(k, getpid()), 0);
	assert_int_equal(access(missing, F_OK), -1);
	assert_non_null(row_of(k, getpid(), missing));
	lookups_off(k);
	assert_int_equal(access(later, F_OK), -1);
	assert_null(row_of(k, getpid(), later));
	assert_int_equal(lookups_on(k), 0);
	assert_null(row_of(k, getpid(), missing));
	assert_int_equal(access(later, F_OK), -1); /* nobody is watched any more */
	assert_null(row_of(k, getpid(), later));
	assert_int_equal(lookups_watch(k, getpid()), 0);
	assert_int_equal(access(later, F_OK), -1);
	assert_int_equal(row_of(k, getpid(), later)->n, 1);
	assert_int_equal(lookups_on(k), 0); /* it is: nothing changes */
	assert_non_null(row_of(k, getpid(), later));
	lookups_free(k);
}

/* Lets time pass until the other side has set this. */
static void stage_await(const int *stage, int least)
{
	const struct timespec nap = {.tv_nsec = NS_PER_MS};
	while (__atomic_load_n(stage, __ATOMIC_ACQUIRE) < least)
		nanosleep(&nap, NULL);
}

static void stage_set(int *stage, int to)
{
	__atomic_store_n(stage, to, __ATOMIC_RELEASE);
}

/* Writes, reads of itself and of an eventfd; after the next stage it reads what others have made. */
static void body_takes(int *stage, const char *name)
{
	char text[64];
	uint64_t n = 1;
	int own = open(name, O_WRONLY | O_CLOEXEC), to = eventfd(0, EFD_CLOEXEC);
	struct stat st;
	stage_set(stage, 1);
	stage_await(stage, 2);
	bool fine = own >= 0 && to >= 0 && write(own, "1", 1) == 1 && fstat(own, &st) == 0;
	fine = fine && write(to, &n, sizeof(n)) == sizeof(n) && read(to, &n, sizeof(n)) == sizeof(n);
	const int self = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	fine = fine && self >= 0 && read(self, text, sizeof(text)) > 0 && close(self) == 0;
	fine = fine && mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
	stage_set(stage, fine ? 3 : 5);
	stage_await(stage, 4);
	const int others = open(name, O_RDONLY | O_CLOEXEC);
	ignore(read(others, text, sizeof(text)), "that it asks is enough");
	stage_set(stage, 5);
	stage_await(stage, 6);
}

static uint64_t taken_by(const struct lookups *k, pid_t pid)
{
	size_t n = 0;
	uint64_t taken = 0;
	assert_int_equal(lookups_take(k, row, LOOKUPS_ROWS, &n), 0);
	for (size_t i = 0; i < n; i++)
		taken += row[i].pid == pid && row[i].taken ? row[i].n : 0;
	return taken;
}

static void what_takes_in_nothing_of_others_is_told_apart(void **state)
{
	(void)state;
	struct world w = live_world();
	struct lookups *k = opened(&w);
	char name[] = "/tmp/vigil-lookups-taken-XXXXXX";
	const int fd = mkstemp(name);
	int *stage = mmap(NULL, sizeof(*stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(fd >= 0 && stage != MAP_FAILED);
	const pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		body_takes(stage, name);
		_exit(0);
	}
	stage_await(stage, 1);
	assert_int_equal(lookups_watch(k, child), 0);
	stage_set(stage, 2);
	stage_await(stage, 3);
	assert_int_equal(*stage, 3);
	assert_int_equal(taken_by(k, child), 0);
	stage_set(stage, 4);
	stage_await(stage, 5);
	assert_int_equal(taken_by(k, child), 2); /* open and read */
	stage_set(stage, 6);
	assert_int_equal(waitpid(child, NULL, 0), child);
	unlink(name);
	close(fd);
	munmap(stage, sizeof(*stage));
	lookups_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_is_not_there_is_counted_by_path),
		cmocka_unit_test(a_lock_that_another_has_is_counted_by_file),
		cmocka_unit_test(what_is_too_long_is_not_told),
		cmocka_unit_test(who_is_not_watched_is_not_counted),
		cmocka_unit_test(on_again_it_has_forgotten),
		cmocka_unit_test(what_takes_in_nothing_of_others_is_told_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
