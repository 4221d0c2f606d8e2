/* Real processes that wait for locks of files, and who is said to be able to end each wait. */
#include "testing.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "base/file.h"
#include "lockfile_fixture.h"

static void body_flock(void)
{
	int first = open(lock_path, O_RDWR);
	must(first >= 0 && flock(first, LOCK_EX) == 0);
	/* The inner process has the descriptor as well; a stranger asks for the lock. */
	if (fork_inner() == 0)
		pause_for_ever();
	pid_t stranger = fork_inner();
	if (stranger == 0) {
		close(first);
		(void)flock(open(lock_path, O_RDWR), LOCK_EX);
		pause_for_ever();
	}
	pause_for_ever();
}

static void a_flock_is_held_by_all_who_have_its_descriptor(void **state)
{
	(void)state;
	char dir[32];
	pid_t stranger = 0;
	lock_file_make(dir);
	start(body_flock);
	const struct waitfact *a = await_inner(WAITFACT_FILE_LOCK, 2, &stranger);
	assert_true(holds(a, child) && !holds(a, stranger) && !a->owner);
	assert_string_equal(a->text, lock_path);
	lock_file_remove(dir);
}

static int lock_command;

static void body_record_lock(void)
{
	struct flock l = {.l_type = F_WRLCK, .l_start = 100, .l_len = 10}, other = {.l_type = F_WRLCK, .l_len = 50};
	int first = open(lock_path, O_RDWR);
	must(fcntl(first, F_SETLK, &l) == 0);
	if (fork_inner() == 0) {
		int second = open(lock_path, O_RDWR);
		/* Another range is free, and taking it is no wait. */
		must(fcntl(second, F_SETLK, &other) == 0);
		l.l_start = 109;
		l.l_len = 1;
		(void)fcntl(second, lock_command, &l);
		pause_for_ever();
	}
	pause_for_ever();
}

static void a_record_lock_names_the_process_that_took_it(void **state)
{
	(void)state;
	char dir[32];
	pid_t inner = 0;
	const int command[] = {F_SETLKW, F_OFD_SETLKW};
	for (size_t i = 0; i < ARRAY_SIZE(command); i++) {
		/* A new file each time: the inner process of the time before may still be ending. */
		lock_file_make(dir);
		lock_command = command[i];
		start(body_record_lock);
		const struct waitfact *a;
		/* The open file description's own record lock is another owner's: the process stands in its own way. */
		a = await_inner(WAITFACT_FILE_LOCK, 1, &inner);
		assert_true(holds(a, child) && a->owner);
		lock_file_remove(dir);
	}
}

static void body_ofd_lock(void)
{
	struct flock l = {.l_type = F_WRLCK};
	int first = open(lock_path, O_RDWR);
	must(fcntl(first, F_OFD_SETLK, &l) == 0);
	if (fork_inner() == 0) {
		close(first);
		l = (struct flock){.l_type = F_WRLCK};
		(void)fcntl(open(lock_path, O_RDWR), F_OFD_SETLKW, &l);
		pause_for_ever();
	}
	pause_for_ever();
}

static void an_ofd_lock_is_found_by_its_descriptor(void **state)
{
	(void)state;
	char dir[32];
	pid_t inner = 0;
	lock_file_make(dir);
	start(body_ofd_lock);
	const struct waitfact *a = await_inner(WAITFACT_FILE_LOCK, 1, &inner);
	assert_true(holds(a, child) && a->owner);
	lock_file_remove(dir);
}

static pid_t first_child_of(pid_t pid)
{
	char path[64], text[512];
	size_t len;
	uint64_t found = 0;
	struct span rest, word;
	TEXT_FORMAT(path, "%d/task/%d/children", (int)pid, (int)pid);
	assert_int_equal(file_read_at(w.proc_fd, path, text, sizeof(text), &len), 0);
	rest = (struct span){text, len};
	if (span_word(&rest, &word))
		assert_int_equal(span_u64(word, &found), 0);
	return (pid_t)found;
}

static bool lock_is_copied;

static int lock_shared(int file)
{
	struct flock l = {.l_type = F_RDLCK};
	must(file >= 0 && fcntl(file, F_OFD_SETLK, &l) == 0);
	return file;
}

/* Three share the lock, two with files of their own; the third's is its own, too, or a copy. One wants it alone. */
static void body_upgrade(void)
{
	lock_shared(open(lock_path, O_RDWR));
	if (fork_inner() == 0) {
		struct flock l = {.l_type = F_WRLCK};
		const int own = lock_shared(open(lock_path, O_RDWR));
		for (int fd = 3; fd < own; fd++)
			close(fd);
		(void)fcntl(own, F_OFD_SETLKW, &l);
		pause_for_ever();
	}
	if (fork_inner() == 0) {
		for (int fd = 3; !lock_is_copied && fd < 64; fd++)
			close(fd);
		if (!lock_is_copied)
			lock_shared(open(lock_path, O_RDWR));
		pause_for_ever();
	}
	pause_for_ever();
}

static void a_lock_that_several_share_needs_all_of_them(void **state)
{
	(void)state;
	char dir[32];
	pid_t inner = 0;
	lock_is_copied = false;
	lock_file_make(dir);
	start(body_upgrade);
	const struct waitfact *a = await_inner(WAITFACT_FILE_LOCK, 2, &inner);
	assert_true(holds(a, child) && !holds(a, inner) && !a->owner);
	assert_true(a->all || !all_is_seen());
	lock_file_remove(dir);
}

/* The one who asks has its file's own lock: three processes have the file, and there are two locks. */
static void of_copies_of_a_lock_any_may_let_go(void **state)
{
	(void)state;
	char dir[32];
	const struct waitfact *a;
	const struct waitfact_thread *t;
	pid_t inner = 0;
	lock_is_copied = true;
	lock_file_make(dir);
	start(body_upgrade);
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	do {
		pause_1ms();
		inner = first_child_of(child);
		facts_read(&inner, 1);
		a = fact_of(inner, WAITFACT_FILE_LOCK, &t);
	} while ((!a || a->n_holders != 3) && clock_mono_ns() < until);
	assert_non_null(a);
	assert_int_equal(a->n_holders, 3);
	assert_false(a->all || a->owner || a->complete);
	lock_file_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FACTS(a_flock_is_held_by_all_who_have_its_descriptor),
		FACTS(a_record_lock_names_the_process_that_took_it),
		FACTS(an_ofd_lock_is_found_by_its_descriptor),
		FACTS(a_lock_that_several_share_needs_all_of_them),
		FACTS(of_copies_of_a_lock_any_may_let_go),
	};
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
