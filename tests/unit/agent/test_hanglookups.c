/* What real processes look for in vain, as hints for the graph of waits. */
#include "testing.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "waitfacts_fixture.h"

#include "agent/hang/hanglookups.h"
#include "sense/proc/lookups.h"
#include "sense/proc/makers.h"

static char dir[32];
static bool with_others;
static bool to_go; /* waits for a mark to go */

/* Looks for a mark between naps, and for the system's own files as libraries do. */
static void body_looks(void)
{
	const struct timespec nap = {.tv_nsec = 2 * NS_PER_MS};
	struct stat st;
	if (chdir(dir) < 0)
		_exit(99);
	for (;;) {
		for (int i = 0; i < 3; i++)
			(void)(stat("/etc/vigil-test-is-not-here", &st) + stat("<frozen runpy>", &st));
		if (!to_go)
			(void)access("epoch3/done.2", F_OK);
		if (with_others || to_go)
			(void)access("epoch3/done.10", F_OK);
		nanosleep(&nap, NULL);
	}
}

/* Naps, and asks for its parent now and then if it is to make a call as well. */
static void body_naps(void)
{
	const struct timespec nap = {.tv_nsec = 2 * NS_PER_MS};
	for (;;) {
		nanosleep(&nap, NULL);
		ignore(poll(NULL, 0, 1), "another way to sleep");
		ignore((int)waitpid(-1, NULL, WNOHANG), "whether a child has ended is no news of others");
		if (with_others)
			ignore(getppid(), "it is a call that is no sleep");
	}
}

static int outside; /* one end of a connection, of which the test keeps the other one */

static void say(int from, int to)
{
	char c = 'x';
	if (send(from, &c, 1, 0) != 1 || recv(to, &c, 1, 0) != 1)
		_exit(98);
}

/* Is client and server between naps, over a connection that is made anew each time, and over one that stays. */
static void body_asks(void)
{
	const struct timespec nap = {.tv_nsec = 50 * NS_PER_MS};
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int pair[2], door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char c;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
	    bind(door, (struct sockaddr *)&at, len) < 0 || listen(door, 1) < 0 ||
	    getsockname(door, (struct sockaddr *)&at, &len) < 0)
		_exit(99);
	for (;;) {
		const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(client, (struct sockaddr *)&at, len) < 0)
			_exit(97);
		const int server = accept4(door, NULL, NULL, SOCK_CLOEXEC);
		say(client, server);
		say(server, client);
		say(pair[0], pair[1]);
		say(pair[1], pair[0]);
		if (with_others)
			ignore((int)recv(outside, &c, 1, MSG_DONTWAIT), "nothing has come");
		close(client);
		close(server);
		nanosleep(&nap, NULL);
	}
}

/* Where the kernel permits no such program the tests are skipped; VIGIL_NEED_BPF=1 makes that a failure. */
static void need_bpf(void)
{
	char why[200] = "";
	struct lookups *k = NULL;
	int r = lookups_open(&w, &k, why, sizeof(why));
	lookups_free(k);
	if (r == 0)
		return;
	if (getenv("VIGIL_NEED_BPF"))
		fail_msg("%s", why);
	skip();
}

static struct hanglookups *h; /* of the watcher, which keeps it to its end: one for all tests */

static void watcher_make(void)
{
	h = h ? h : hanglookups_new(&w);
	assert_non_null(h);
}

static int n_ranks; /* 0: the child is the only one */
static const struct filehist *made; /* who has made such files; NULL: unknown */
static size_t n_known = 1; /* 2: the test is of the job as well */

static struct waithint hint_awaited(bool others)
{
	const pid_t pids[] = {child, getpid()};
	struct hangprocs_member member[11] = {{.pid = child, .main = true, .who.rank = n_ranks ? n_ranks - 1 : 0}};
	struct hangprocs procs = {.now = member, .n_now = n_ranks ? (size_t)n_ranks : 1};
	for (int i = 1; i < n_ranks; i++)
		member[i] = (struct hangprocs_member){.main = true, .who.rank = i - 1};
	struct waithint hint[4];
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	hanglookups_begin(h, &procs);
	while (clock_mono_ns() < until) {
		facts_read(pids, n_known);
		if (hanglookups_hints(h, &facts, made, hint, ARRAY_SIZE(hint)) == 1 && hint[0].others_there == others)
			return hint[0];
		pause_1ms();
	}
	fail_msg("the child is not said to look for anything");
	return hint[0];
}

static void folder_make(void)
{
	char path[64];
	(void)text_copy(dir, sizeof(dir), "/tmp/vigil-lookups-XXXXXX");
	assert_non_null(mkdtemp(dir));
	TEXT_FORMAT(path, "%s/epoch3", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	TEXT_FORMAT(path, "%s/epoch3/done.10", dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void folder_remove(void)
{
	char path[64];
	child_end();
	TEXT_FORMAT(path, "%s/epoch3/done.10", dir);
	unlink(path);
	TEXT_FORMAT(path, "%s/epoch3", dir);
	rmdir(path);
	rmdir(dir);
}

static void a_loop_is_said_to_look_for_what_it_does_not_find(void **state)
{
	(void)state;
	char want[160];
	need_bpf();
	watcher_make();
	for (int others = 0; others < 2; others++) {
		folder_make();
		with_others = others;
		start(body_looks);
		const struct waithint hint = hint_awaited(others);
		assert_true(hint.kind == WAITHINT_RETRY && hint.missing && !hint.exists);
		assert_int_equal(hint.pid, child);
		assert_int_equal(hint.tid, child);
		TEXT_FORMAT(want, "looks again and again for %s/epoch3/done.2, which is not there%s", dir,
			    others ? " (done.10 is)" : "");
		assert_string_equal(hint.text, want);
		hanglookups_end(h);
		struct waithint none[2];
		assert_int_equal(hanglookups_hints(h, &facts, NULL, none, ARRAY_SIZE(none)), 0);
		assert_string_equal(hint_awaited(others).text, want); /* at the next look */
		folder_remove();
	}
}

static void a_link_that_points_to_nothing_is_told(void **state)
{
	(void)state;
	char want[160], link[64];
	need_bpf();
	watcher_make();
	folder_make();
	TEXT_FORMAT(link, "%s/epoch3/done.2", dir);
	assert_int_equal(symlink("epoch3/done.1", link), 0);
	with_others = false;
	start(body_looks);
	const struct waithint hint = hint_awaited(false);
	assert_true(hint.kind == WAITHINT_RETRY && hint.missing);
	TEXT_FORMAT(want, "looks again and again for %s, a link to epoch3/done.1, which is not there", link);
	assert_string_equal(hint.text, want);
	assert_true(hint.link_old_ns > 0 && hint.link_old_ns < 600 * NS_PER_S);
	hanglookups_end(h);
	unlink(link);
	folder_remove();
}

static void file_was_made(struct filehist *f, const char *name, bool ours)
{
	filehist_add(f, &(struct filehist_row){.folder = f->folder[0].folder,
					       .name = name,
					       .pid = getpid(),
					       .ours = ours,
					       .came = true});
}

static void who_made_such_files_is_told_if_the_job_alone_did(void **state)
{
	(void)state;
	static struct filehist files;
	char path[64], name[16], want[120];
	uint64_t folder;
	need_bpf();
	watcher_make();
	folder_make();
	TEXT_FORMAT(path, "%s/epoch3", dir);
	cleanup(closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (makers_folder(fd, &folder) != 0)
		skip();
	assert_true(filehist_watch(&files, folder));
	file_was_made(&files, "done.0", true);
	file_was_made(&files, "done.1", true);
	made = &files;
	n_known = 2;
	with_others = false;
	start(body_looks);
	struct waithint hint = hint_awaited(false);
	assert_true(hint.own_kind && !hint.own_folder && !hint.link_old_ns);
	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	TEXT_FORMAT(want, "files of this kind are made by the job itself: done.1 by process %d (%s)", (int)getpid(),
		    name);
	assert_string_equal(hint.owner_text, want);
	file_was_made(&files, "done.9", false);
	hint = hint_awaited(false);
	assert_true(!hint.own_kind && hint.owner_text[0] == '\0');
	hanglookups_end(h);
	made = NULL;
	n_known = 1;
	folder_remove();
}

/* Reads a file to its end, and reads on between naps. */
static void body_reads_on(void)
{
	const struct timespec nap = {.tv_nsec = 2 * NS_PER_MS};
	char c[16];
	int fd = chdir(dir) < 0 ? -1 : open("epoch3/done.10", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && read(fd, c, sizeof(c)) >= 0)
		nanosleep(&nap, NULL);
	_exit(99);
}

static void who_reads_behind_the_end_of_a_file_that_was_cut_is_told(void **state)
{
	(void)state;
	char path[64], want[160];
	need_bpf();
	watcher_make();
	folder_make();
	TEXT_FORMAT(path, "%s/epoch3/done.10", dir);
	assert_int_equal(file_replace(path, "0123456789", 10, 0600), 0);
	start(body_reads_on);
	const pid_t pids[] = {child};
	struct hangprocs_member member = {.pid = child, .main = true};
	struct hangprocs procs = {.now = &member, .n_now = 1};
	struct waithint none[2];
	hanglookups_begin(h, &procs);
	for (int i = 0; i < 20; i++) {
		facts_read(pids, 1);
		assert_int_equal(hanglookups_hints(h, &facts, NULL, none, ARRAY_SIZE(none)), 0);
		pause_1ms();
	}
	assert_int_equal(truncate(path, 4), 0);
	const struct waithint hint = hint_awaited(false);
	assert_true(hint.kind == WAITHINT_RETRY && hint.behind && !hint.missing && !hint.own_kind);
	TEXT_FORMAT(want, "reads on from byte 10 of %s, which has 4 bytes by now", path);
	assert_string_equal(hint.text, want);
	hanglookups_end(h);
	folder_remove();
}

/* Rank 10 of 11 looks for the mark of rank 2, and has made its own; of 10 ranks none has that number. */
static void a_rank_that_has_made_its_own_mark_looks_for_one_of_several(void **state)
{
	(void)state;
	need_bpf();
	watcher_make();
	with_others = false;
	for (n_ranks = 10; n_ranks < 12; n_ranks++) {
		folder_make();
		start(body_looks);
		const struct waithint hint = hint_awaited(n_ranks == 11);
		assert_int_equal(strstr(hint.text, "done.2, which is not there (done.10 is)") != NULL, n_ranks == 11);
		hanglookups_end(h);
		folder_remove();
	}
	n_ranks = 0;
}

static void a_loop_is_said_to_ask_for_what_does_not_go(void **state)
{
	(void)state;
	char want[160];
	need_bpf();
	to_go = true;
	folder_make();
	start(body_looks);
	const struct waithint hint = hint_awaited(false);
	assert_true(hint.kind == WAITHINT_RETRY && !hint.missing && !hint.exists);
	TEXT_FORMAT(want, "asks again and again for %s/epoch3/done.10, which is there", dir);
	assert_string_equal(hint.text, want);
	hanglookups_end(h);
	folder_remove();
	to_go = false;
}

static bool asks_too; /* it also asks whether it is there, as who makes a folder if need be */

static void body_makes(void)
{
	const struct timespec nap = {.tv_nsec = 2 * NS_PER_MS};
	struct stat st;
	if (chdir(dir) < 0)
		_exit(98);
	for (;;) {
		if (mkdir("epoch3", 0700) == 0 || (asks_too && stat("epoch3", &st) < 0))
			_exit(99);
		nanosleep(&nap, NULL);
	}
}

static void a_loop_that_would_make_what_is_there_is_told_from_one_that_may_find_it(void **state)
{
	(void)state;
	char want[160];
	need_bpf();
	watcher_make();
	for (int i = 0; i < 2; i++) {
		asks_too = i == 1;
		folder_make();
		start(body_makes);
		const struct waithint hint = hint_awaited(false);
		assert_true(hint.kind == WAITHINT_RETRY && !hint.missing && hint.exists == !asks_too);
		TEXT_FORMAT(want,
			    asks_too ? "asks again and again for %s/epoch3, which is there"
				     : "tries again and again to make %s/epoch3, which is there already",
			    dir);
		assert_string_equal(hint.text, want);
		hanglookups_end(h);
		folder_remove();
	}
}

static bool by_description; /* the lock is one by open file description */

static bool lock_try(int fd)
{
	struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	return (by_description ? fcntl(fd, F_OFD_SETLK, &all) : flock(fd, LOCK_EX | LOCK_NB)) == 0;
}

/* Opens the file for each try, and closes it again. */
static void body_tries(void)
{
	const struct timespec nap = {.tv_nsec = 2 * NS_PER_MS};
	if (chdir(dir) < 0)
		_exit(99);
	for (;;) {
		int fd = open("epoch3/done.10", O_RDWR | O_CLOEXEC);
		if (lock_try(fd))
			_exit(98);
		close(fd);
		nanosleep(&nap, NULL);
	}
}

static void holder_is_told(void)
{
	char path[64];
	need_bpf();
	folder_make();
	TEXT_FORMAT(path, "%s/epoch3/done.10", dir);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(lock_try(fd));
	start(body_tries);
	n_known = 1;
	struct waithint hint = hint_awaited(false);
	char want[96], name[16];
	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	TEXT_FORMAT(want, "tries again and again to lock done.10, which process %d (%s) has", (int)getpid(), name);
	assert_int_equal(hint.kind, WAITHINT_RETRY);
	assert_string_equal(hint.text, want);
	assert_false(hint.missing || hint.exists);
	n_known = 2;
	hint = hint_awaited(false);
	n_known = 1;
	assert_int_equal(hint.kind, WAITHINT_OWNER);
	assert_int_equal(hint.owner_pid, getpid());
	assert_int_equal(hint.owner_tid, getpid());
	assert_false(hint.proof || hint.one_of);
	assert_string_equal(hint.text, "tries again and again to lock done.10");
	hanglookups_end(h);
	close(fd);
	folder_remove();
}

/* A look takes what was counted before it, so there is one, after many naps. */
static bool naps_are_told(const struct hangprocs *procs)
{
	struct waithint hint[4];
	hanglookups_begin(h, procs);
	for (int i = 0; i < 100; i++)
		pause_1ms();
	facts_read(&child, 1);
	const size_t n = hanglookups_hints(h, &facts, NULL, hint, ARRAY_SIZE(hint));
	hanglookups_end(h);
	assert_true(n == 0 || (hint[0].kind == WAITHINT_SLEEPS && hint[0].tid == child));
	return n > 0;
}

static void a_loop_that_makes_no_call_but_its_naps_is_told(void **state)
{
	(void)state;
	struct hangprocs_member member = {.main = true};
	const struct hangprocs procs = {.now = &member, .n_now = 1};
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	need_bpf();
	with_others = false;
	start(body_naps);
	member.pid = child;
	bool told = false; /* its last calls before its loop may fall into the first watch */
	while (!told && clock_mono_ns() < until)
		told = naps_are_told(&procs);
	assert_true(told);
	child_end();
	with_others = true;
	start(body_naps);
	member.pid = child;
	assert_false(naps_are_told(&procs));
	child_end();
	with_others = false;
}

static bool asks; /* of the job that is told to be closed */

/* Asks until it is told, or until a time has passed in which it would have been. */
static bool closed_is_told(const struct hangprocs *procs)
{
	const uint64_t until = clock_mono_ns() + 5 * NS_PER_S;
	struct waithint hint[4];
	bool told = false;
	hanglookups_begin(h, procs);
	while (!told && clock_mono_ns() < until) {
		pause_1ms();
		facts_read(&child, 1);
		const size_t n = hanglookups_hints(h, &facts, NULL, hint, ARRAY_SIZE(hint));
		told = n > 0 && hint[0].kind == WAITHINT_CLOSED;
		asks = told && hint[0].asks;
	}
	hanglookups_end(h);
	return told;
}

static void a_job_that_takes_nothing_in_is_told(void **state)
{
	(void)state;
	struct hangprocs_member member = {.main = true};
	const struct hangprocs procs = {.now = &member, .n_now = 1};
	need_bpf();
	with_others = true; /* it asks for its parent, of which nobody else is to bring anything */
	start(body_naps);
	member.pid = child;
	bool told = false; /* its last calls before its loop may fall into the first watch */
	for (int i = 0; i < 3 && !told; i++)
		told = closed_is_told(&procs);
	assert_true(told && !asks);
	child_end();
	with_others = false;
	folder_make();
	start(body_looks);
	member.pid = child;
	assert_false(closed_is_told(&procs));
	child_end();
	folder_remove();
}

static void a_job_whose_processes_ask_each_other_alone_is_told(void **state)
{
	(void)state;
	struct hangprocs_member member = {.main = true};
	const struct hangprocs procs = {.now = &member, .n_now = 1};
	int pair[2];
	need_bpf();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	outside = pair[0];
	for (int i = 0; i < 2; i++) {
		with_others = i == 1; /* it looks for what the test may send as well */
		start(body_asks);
		member.pid = child;
		bool told = false; /* a connection may be at its end as the watch begins */
		for (int k = 0; k < (with_others ? 1 : 3) && !told; k++)
			told = closed_is_told(&procs);
		assert_int_equal(told, !with_others);
		assert_int_equal(asks, !with_others);
		child_end();
	}
	with_others = false;
	close(pair[0]);
	close(pair[1]);
}

static void who_has_the_lock_that_a_loop_tries_is_told(void **state)
{
	(void)state;
	holder_is_told();
}

/* In /proc/locks it has no number. */
static void who_has_a_lock_by_open_file_description_is_told(void **state)
{
	(void)state;
	by_description = true;
	holder_is_told();
	by_description = false;
}

static void without_a_watcher_nothing_is_told(void **state)
{
	(void)state;
	struct hangprocs procs = {.n_now = 0};
	struct waithint hint[2];
	hanglookups_begin(NULL, &procs);
	hanglookups_end(NULL);
	assert_int_equal(hanglookups_hints(NULL, &facts, NULL, hint, ARRAY_SIZE(hint)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FACTS(a_loop_is_said_to_look_for_what_it_does_not_find),
		FACTS(a_link_that_points_to_nothing_is_told),
		FACTS(who_reads_behind_the_end_of_a_file_that_was_cut_is_told),
		FACTS(who_made_such_files_is_told_if_the_job_alone_did),
		FACTS(a_rank_that_has_made_its_own_mark_looks_for_one_of_several),
		FACTS(a_loop_is_said_to_ask_for_what_does_not_go),
		FACTS(a_loop_that_would_make_what_is_there_is_told_from_one_that_may_find_it),
		FACTS(a_loop_that_makes_no_call_but_its_naps_is_told),
		FACTS(a_job_that_takes_nothing_in_is_told),
		FACTS(a_job_whose_processes_ask_each_other_alone_is_told),
		FACTS(who_has_the_lock_that_a_loop_tries_is_told),
		FACTS(who_has_a_lock_by_open_file_description_is_told),
		FACTS(without_a_watcher_nothing_is_told),
	};
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
