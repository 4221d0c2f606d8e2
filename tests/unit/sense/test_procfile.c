#include <fcntl.h>
#include <linux/auxvec.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "testing.h"

#include "base/buf.h"
#include "sense/proc/procfile.h"

static struct foreign_user user_of(const char *status)
{
	struct foreign_user u = {.uid = 99};
	assert_int_equal(procfile_user_parse(span_of(status), &u), 0);
	return u;
}

static void the_user_is_the_one_who_started_it(void **state)
{
	(void)state;
	struct foreign_user u = user_of("Name:\tx\nUid:\t7\t7\t7\t7\nGid:\t8\t8\t8\t8\nGroups:\t8 9 10 \n");
	assert_true(u.uid == 7 && u.gid == 8 && u.n_groups == 3 && u.group[2] == 10);
	u = user_of("Uid:\t7\t0\t0\t0\nGid:\t8\t0\t0\t0\nGroups:\t\n"); /* set-user-ID of root */
	assert_true(u.uid == 7 && u.gid == 8 && u.n_groups == 0);
	u = user_of("Uid:\t7\t0\t0\t0\nGid:\t8\t8\t8\t8\nGroups:\t0 4 \n");
	assert_int_equal(u.n_groups, 0); /* it may have taken root's */
	u = user_of("Uid:\t0\t7\t0\t7\nGid:\t0\t8\t0\t8\n"); /* root that gave rights up for a while */
	assert_true(u.uid == 7 && u.gid == 8);
	u = user_of("Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t5\n");
	assert_true(u.uid == 0 && u.gid == 5);
}

static void what_is_cut_names_nobody(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "Uid:\t7\t7\t7\nGid:\t8\t8\t8\t8\n",
					  "Uid:\t7\t7\t7\tx\nGid:\t8\t8\t8\t8\n", "Uid:\t7\t7\t7\t7\n",
					  "Uid:\t7\t7\t7\t4294967296\nGid:\t8\t8\t8\t8\n"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct foreign_user u;
		assert_int_equal(procfile_user_parse(span_of(bad[i]), &u), -EBADMSG);
	}
}

static void only_a_descriptor_for_writing_writes(void **state)
{
	(void)state;
	assert_true(procfile_writes_parse("pos:\t0\nflags:\t0100001\nmnt_id:\t29\n"));
	assert_true(procfile_writes_parse("pos:\t0\nflags:\t0102002\n"));
	assert_false(procfile_writes_parse("pos:\t0\nflags:\t0100000\n"));
	assert_false(procfile_writes_parse("pos:\t0\nflags:\t010000001\n")); /* O_PATH, whatever else is set */
	assert_false(procfile_writes_parse("pos:\t0\n"));
	assert_false(procfile_writes_parse(""));
}

/* Its folder is on a mount that only it has, and a name in it is a link to the whole path of another. */
static _Noreturn void far_away(const char *folder, int ready)
{
	char path[128];
	bool good = unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		    mount("none", folder, "tmpfs", 0, NULL) == 0 && chdir(folder) == 0;
	TEXT_FORMAT(path, "%s/real", folder);
	int fd = good ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644) : -1;
	good = fd >= 0 && write(fd, "x", 1) == 1 && symlink(path, "named") == 0;
	ignore(write(ready, good ? "y" : "n", 1), "the other end then reads nothing");
	for (;;)
		pause();
}

static void an_absolute_link_in_its_folder_leads_where_it_leads_the_process(void **state)
{
	(void)state;
	struct world w = {.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	char folder[] = "/tmp/vigil-test-XXXXXX", answer = 'n';
	int ready[2], fd = -1, r = 0;
	if (geteuid() != 0)
		skip(); /* a mount of one's own takes root */
	assert_true(w.proc_fd >= 0);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0)
		far_away(folder, ready[1]);
	bool answered = read(ready[0], &answer, 1) == 1;
	if (answered && answer == 'y')
		r = procfile_open(&w, pid, "named", FOREIGN_LINKS, &fd);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	(void)rmdir(folder);
	(void)close(ready[0]);
	(void)close(ready[1]);
	(void)close(w.proc_fd);
	if (answer != 'y')
		skip(); /* this container may not mount */
	assert_int_equal(r, 0);
	assert_int_equal(close(fd), 0);
}

/* ---- how it was started ---- */

static void who_started_it_is_in_its_auxiliary_vector(void **state)
{
	(void)state;
	const uint64_t wide[] = {AT_PAGESZ, 4096, AT_UID, 7, AT_EUID, 0, AT_GID, 8, AT_SECURE, 1, AT_NULL, 0};
	const uint32_t narrow[] = {AT_PAGESZ, 4096, AT_UID, 9, AT_EUID, 9, AT_GID, 10, AT_SECURE, 0, AT_NULL, 0};
	const uint64_t late[] = {AT_UID, 7, AT_GID, 8, AT_NULL, 0, AT_SECURE, 1};
	struct procfile_start s;
	assert_int_equal(procfile_start_parse((struct span){(const char *)wide, sizeof(wide)}, &s), 0);
	assert_true(s.secure && s.uid == 7 && s.gid == 8);
	assert_int_equal(procfile_start_parse((struct span){(const char *)narrow, sizeof(narrow)}, &s), 0);
	assert_true(!s.secure && s.uid == 9 && s.gid == 10);
	assert_int_equal(procfile_start_parse((struct span){(const char *)late, sizeof(late)}, &s), -EBADMSG);
	assert_int_equal(procfile_start_parse((struct span){(const char *)wide, sizeof(wide) - 20}, &s), -EBADMSG);
	assert_int_equal(procfile_start_parse((struct span){"", 0}, &s), -EBADMSG);
}

/*
 * A process of a user's that becomes root in steps, each when a byte comes in: it executes this program, which has the
 * set-user-ID bit there and takes all ids of root, and then executes it once more, to which the bit gives nothing.
 */
#define USER 60718

static bool step(void)
{
	char byte;
	return write(STDOUT_FILENO, "y", 1) == 1 && read(STDIN_FILENO, &byte, 1) == 1;
}

static _Noreturn void changing(const char *program)
{
	if (setresgid(USER, USER, USER) == 0 && setresuid(USER, USER, USER) == 0 && step())
		(void)execl(program, program, "become", NULL);
	_exit(1);
}

static int become(const char *program)
{
	if (setresuid(0, 0, 0) == 0 && step())
		(void)execl(program, program, "stay", NULL);
	return 1;
}

struct change {
	struct world w;
	char folder[32], program[64], secret[64];
	pid_t pid;
	int in, out;
};

static bool await(const struct change *c)
{
	char byte;
	return read(c->out, &byte, 1) == 1;
}

static void go_on(const struct change *c)
{
	assert_int_equal(write(c->in, "g", 1), 1);
	if (await(c))
		return;
	skip(); /* set-user-ID bits do nothing on this mount */
}

static void copy_to(const char *path, mode_t mode)
{
	cleanup(closep) int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	cleanup(closep) int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	struct stat st;
	assert_true(from >= 0 && to >= 0 && fstat(from, &st) == 0);
	for (off_t left = st.st_size; left > 0;) {
		ssize_t n = sendfile(to, from, NULL, (size_t)left);
		assert_true(n > 0);
		left -= n;
	}
	assert_int_equal(fchmod(to, mode), 0);
}

static void change_begin(struct change *c)
{
	int in[2], out[2];
	*c = (struct change){.w = {.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)},
			     .folder = "/var/tmp/vigil-test-XXXXXX"};
	assert_non_null(mkdtemp(c->folder));
	assert_int_equal(chmod(c->folder, 0755), 0);
	TEXT_FORMAT(c->program, "%s/change", c->folder);
	TEXT_FORMAT(c->secret, "%s/secret", c->folder);
	copy_to(c->program, 04755);
	cleanup(closep) int secret = open(c->secret, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(secret >= 0 && pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	c->pid = fork();
	if (c->pid == 0 && dup2(in[0], STDIN_FILENO) >= 0 && dup2(out[1], STDOUT_FILENO) >= 0)
		changing(c->program);
	(void)close(in[0]);
	(void)close(out[1]);
	c->in = in[1];
	c->out = out[0];
}

static void change_end(struct change *c)
{
	(void)kill(c->pid, SIGKILL);
	(void)waitpid(c->pid, NULL, 0);
	(void)unlink(c->program);
	(void)unlink(c->secret);
	(void)rmdir(c->folder);
	(void)close(c->in);
	(void)close(c->out);
	(void)close(c->w.proc_fd);
}

/* What the door says of the process: its user, and the file of root's by each way. */
struct said {
	int user, open, open_of, for_job;
	uid_t uid, owner;
};

static struct said say(const struct change *c, const struct procfile_who *who)
{
	struct world job = c->w;
	struct foreign_user user = {.uid = UINT32_MAX};
	struct said s = {.owner = UINT32_MAX};
	cleanup(closep) int a = -1, b = -1, d = -1;
	job.owner = USER;
	s.user = procfile_user(&c->w, c->pid, &user);
	s.uid = user.uid;
	ignore(procfile_owner(&c->w, c->pid, &s.owner), "then it is nobody");
	s.open = procfile_open(&c->w, c->pid, c->secret, 0, &a);
	s.open_of = procfile_open_of(&c->w, who, c->secret, 0, &b);
	s.for_job = procfile_open(&job, c->pid, c->secret, 0, &d);
	return s;
}

static void a_process_that_becomes_root_opens_nothing_for_the_user_it_was(void **state)
{
	(void)state;
	struct change c;
	struct procfile_who who = {.pid = 0};
	struct said as_user, as_set, as_root;
	if (geteuid() != 0)
		skip();
	change_begin(&c);
	bool began = await(&c);
	int r = procfile_who(&c.w, c.pid, &who);
	as_user = say(&c, &who);
	go_on(&c);
	as_set = say(&c, &who);
	go_on(&c);
	as_root = say(&c, &who);
	struct procfile_who other = who;
	other.uid = 0;
	other.start_ticks++;
	int fd = -1, by_another = procfile_open_of(&c.w, &other, c.secret, 0, &fd);
	change_end(&c);
	assert_true(began && r == 0 && who.uid == USER && who.start_ticks > 0);
	assert_true(as_user.user == 0 && as_user.uid == USER && as_user.owner == USER);
	assert_true(as_user.open == WORLD_DENIED && as_user.open_of == WORLD_DENIED);
	/* it has all ids of root, and its user is still who started it */
	assert_true(as_set.user == 0 && as_set.uid == USER && as_set.owner == 0);
	assert_true(as_set.open == WORLD_DENIED && as_set.open_of == WORLD_DENIED && as_set.for_job == WORLD_DENIED);
	/* by now nothing tells it from a program that root started; a user's job gets nothing of it */
	assert_true(as_root.user == 0 && as_root.uid == 0 && as_root.open == 0);
	assert_true(as_root.open_of == PROCFILE_CHANGED && as_root.for_job == WORLD_DENIED);
	assert_true(by_another == PROCFILE_CHANGED && fd == -1);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "become") == 0)
		return become(argv[0]);
	if (argc == 2 && strcmp(argv[1], "stay") == 0)
		return !step();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_user_is_the_one_who_started_it),
		cmocka_unit_test(what_is_cut_names_nobody),
		cmocka_unit_test(only_a_descriptor_for_writing_writes),
		cmocka_unit_test(who_started_it_is_in_its_auxiliary_vector),
		cmocka_unit_test(a_process_that_becomes_root_opens_nothing_for_the_user_it_was),
		cmocka_unit_test(an_absolute_link_in_its_folder_leads_where_it_leads_the_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
