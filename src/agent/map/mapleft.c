#include "agent/map/mapleft.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "act/target.h"
#include "base/file.h"
#include "base/text.h"
#include "sense/proc/proctree.h"

/* vigil puts its variables first. */
#define ENVIRON_BYTES 4096
#define TREE_MAX 512
#define ROUNDS 20
/* For all processes of a round to end. */
#define ROUND_MS 500
/* For all that is in the groups of tasks to end. */
#define GROUPS_MS 10000

bool mapleft_has(const struct world *w, pid_t pid, const char *variable)
{
	char text[ENVIRON_BYTES];
	size_t len = 0, size = strlen(variable) + 1;
	if (proc_environ_read(w, pid, text, sizeof(text) - 1, &len) != 0)
		return false;
	text[len++] = '\0';
	for (size_t at = 0; at < len; at += strlen(text + at) + 1)
		if (len - at >= size && memcmp(text + at, variable, size) == 0)
			return true;
	return false;
}

/* Waits for its end as long as is left of the round. */
static void row_end(const struct world *w, const struct proctree_row *row)
{
	struct target t = {.id = row->id, .pidfd = -1};
	if (target_open(w, &t, true) == 0 && target_signal(w, &t, SIGKILL) == 0) {
		struct pollfd p = {.fd = t.pidfd, .events = POLLIN};
		if (t.pidfd >= 0)
			(void)poll(&p, 1, ROUND_MS);
	}
	target_close(&t);
}

static size_t tree_end(const struct world *w, pid_t pid)
{
	static struct proctree_row rows[TREE_MAX];
	size_t n = proctree_read(w, pid, rows, TREE_MAX);
	for (size_t i = 0; i < n; i++)
		row_end(w, &rows[i]);
	return n;
}

static bool is_ours(int proc_fd, const char *name)
{
	struct stat st;
	return fstatat(proc_fd, name, &st, 0) == 0 && st.st_uid == geteuid();
}

static size_t round_end(const struct world *w, const char *variable)
{
	int fd = openat(w->proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup(closedirp) DIR *d = file_folder(fd);
	size_t n = 0;
	for (const struct dirent *e; d && (e = readdir(d));) {
		uint64_t pid;
		if (span_u64(span_of(e->d_name), &pid) < 0 || (pid_t)pid == getpid() ||
		    !is_ours(w->proc_fd, e->d_name) || !mapleft_has(w, (pid_t)pid, variable))
			continue;
		n += tree_end(w, (pid_t)pid);
	}
	return n;
}

/* What ends may have forked meanwhile, so it is looked again until nothing is found. */
size_t mapleft_end(const struct world *w, const char *variable)
{
	size_t n = 0, found = 1;
	for (int i = 0; i < ROUNDS && found > 0; i++) {
		found = round_end(w, variable);
		n += found;
	}
	return n;
}

_Noreturn static void warden_main(const struct world *w, const char *variable, struct taskgroups groups, int fd)
{
	char byte;
	sigset_t none;
	(void)setsid();
	static const int deaf[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	for (size_t i = 0; i < ARRAY_SIZE(deaf); i++)
		(void)signal(deaf[i], SIG_IGN);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	/* who waits for the end of the runner's output shall not wait for the warden */
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i <= STDERR_FILENO && null >= 0; i++)
		(void)dup2(null, i);
	ssize_t n;
	while ((n = read(fd, &byte, 1)) < 0 && errno == EINTR)
		;
	if (n == 0) {
		ignore(taskgroups_end(w, &groups, GROUPS_MS), "nobody is left to be told");
		ignore(mapleft_end(w, variable), "as above");
	}
	_exit(0);
}

int warden_start(const struct world *w, const char *variable, const struct taskgroups *groups, struct warden *ret)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid_t pid = fork();
	int fork_errno = errno;
	if (pid == 0) {
		close(fds[1]);
		warden_main(w, variable, *groups, fds[0]);
	}
	close(fds[0]);
	if (pid < 0) {
		close(fds[1]);
		return -fork_errno;
	}
	*ret = (struct warden){pid, fds[1]};
	return 0;
}

void warden_end(struct warden *d)
{
	if (d->pid == 0)
		return;
	ignore(write(d->fd, "q", 1), "it has died");
	closep(&d->fd);
	(void)waitpid(d->pid, NULL, 0);
	d->pid = 0;
}
