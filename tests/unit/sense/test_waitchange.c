/* Real processes that wait for a change of files (inotify), and who could make one. */
#include "testing.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>

#include "base/buf.h"
#include "base/file.h"
#include "waitfacts_fixture.h"

static void must(bool ok)
{
	if (!ok)
		_exit(99);
}

static void read_one(int fd)
{
	char event[4096];
	(void)!read(fd, event, sizeof(event));
}

/* As tail -f does: a change of the file, and whether the reader of its output has left. */
static void body_follow(void)
{
	int p[2], file = open(".", O_TMPFILE | O_RDWR, 0600);
	char path[32];
	TEXT_FORMAT(path, "/proc/self/fd/%d", file);
	must(pipe(p) == 0 && file >= 0);
	struct pollfd fds[2] = {{.fd = inotify_init1(0), .events = POLLIN}, {.fd = p[1]}};
	must(inotify_add_watch(fds[0].fd, path, IN_MODIFY) > 0);
	if (fork_inner() == 0)
		pause_for_ever();
	close(file);
	(void)poll(fds, 2, -1);
}

static void who_follows_a_file_waits_for_who_has_it_open_to_write(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_follow);
	const pid_t pids[2] = {child, child_of(child)};
	const struct waitfact *a =
		await_fact_among(pids, 2, child, (struct expected){WAITFACT_CHANGE, false, 1, pids[1]}, &t);
	assert_true(strstr(a->text, "deleted") && !a->hangup && a->id != 0);
	a = await_fact_among(pids, 2, child, (struct expected){WAITFACT_PIPE, true, 2, child}, &t);
	assert_true(a->hangup && a->to_write);
}

/* Its folder is removed, which takes the watch away, and is told: the next thing is told by nobody. */
static int watch_nothing(void)
{
	char folder[] = "/tmp/vigil-watched-XXXXXX";
	struct inotify_event event;
	int fd = inotify_init1(0);
	must(mkdtemp(folder) && inotify_add_watch(fd, folder, IN_CLOSE_WRITE) > 0 && rmdir(folder) == 0);
	must(read(fd, &event, sizeof(event)) == sizeof(event) && (event.mask & IN_IGNORED));
	return fd;
}

static void body_watch_nothing(void)
{
	read_one(watch_nothing());
}

static void body_watch_nothing_of_two(void)
{
	int fd = watch_nothing();
	if (fork_inner() == 0)
		pause_for_ever();
	read_one(fd);
}

static void who_watches_no_file_any_more_waits_for_who_has_the_descriptor(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_watch_nothing);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_EVENTFD, true, 1, child}, &t);
	assert_non_null(strstr(a->text, "no file is watched"));
	child_end();
	start(body_watch_nothing_of_two);
	const pid_t pids[2] = {child, child_of(child)};
	a = await_fact_among(pids, 2, child, (struct expected){WAITFACT_EVENTFD, false, 2, pids[1]}, &t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FACTS(who_follows_a_file_waits_for_who_has_it_open_to_write),
		FACTS(who_watches_no_file_any_more_waits_for_who_has_the_descriptor),
	};
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
