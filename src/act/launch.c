#include "act/launch.h"

#include <fcntl.h>
#include <pty.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>

#include "act/inherit.h"
#include "act/oomadj.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/private.h"

extern char **environ;

struct channel {
	int ours, theirs;
	bool tty;
};

static void channel_close(struct channel *c)
{
	closep(&c->ours);
	closep(&c->theirs);
}

/* Opens a terminal that changes no byte, so that vigil reads exactly what the child writes. */
static int channel_tty(int like, struct channel *c)
{
	struct termios t;
	struct winsize size;
	if (tcgetattr(like, &t) < 0)
		return -errno;
	t.c_oflag &= (tcflag_t)~OPOST;
	t.c_lflag &= (tcflag_t) ~(ECHO | ECHOE | ECHOK | ECHONL);
	bool sized = ioctl(like, TIOCGWINSZ, &size) == 0;
	if (openpty(&c->ours, &c->theirs, NULL, &t, sized ? &size : NULL) < 0)
		return -errno;
	(void)fcntl(c->ours, F_SETFD, FD_CLOEXEC);
	(void)fcntl(c->theirs, F_SETFD, FD_CLOEXEC);
	c->tty = true;
	return 0;
}

static int channel_open(int like, struct channel *c)
{
	*c = (struct channel){-1, -1, false};
	if (!isatty(like) || channel_tty(like, c) < 0) {
		int fds[2];
		if (pipe2(fds, O_CLOEXEC) < 0)
			return -errno;
		c->ours = fds[0];
		c->theirs = fds[1];
	}
	(void)fcntl(c->ours, F_SETFL, fcntl(c->ours, F_GETFL) | O_NONBLOCK);
	return 0;
}

/* environ with the additions, as one malloc'ed vector of borrowed strings. */
static char **environment(const struct launch *l)
{
	size_t n = 0;
	while (environ[n])
		n++;
	char **env = calloc(n + l->n_env + 1, sizeof(*env));
	if (!env)
		return NULL;
	size_t used = 0;
	for (size_t i = 0; i < n; i++) {
		bool replaced = false;
		for (size_t k = 0; k < l->n_env && !replaced; k++) {
			size_t name = (size_t)(strchrnul(l->env[k], '=') - l->env[k]) + 1;
			replaced = strncmp(environ[i], l->env[k], name) == 0;
		}
		if (!replaced)
			env[used++] = environ[i];
	}
	for (size_t k = 0; k < l->n_env; k++) {
		union {
			const char *c;
			char *p;
		} u = {.c = l->env[k]};
		env[used++] = u.p;
	}
	return env;
}

_Noreturn static void child_main(const struct launch *l, const struct channel *out, const struct channel *err,
				 char **env, int status_fd, pid_t parent)
{
	if (l->announce)
		l->announce(l->ctx);
	oomadj_restore();
	/* the parent died before the death signal was set, and the child must not run without it */
	if (getppid() != parent)
		_exit(127);
	if (l->group && l->group->version != CGROUP_NONE)
		ignore(jobgroup_enter(l->group), "watching still works; the supervisor checks");
	if (!l->keep_stdin) {
		int null = open("/dev/null", O_RDONLY);
		if (null >= 0)
			(void)dup2(null, STDIN_FILENO);
	}
	(void)dup2(out->theirs, STDOUT_FILENO);
	(void)dup2(err->theirs, STDERR_FILENO);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &l->mask, NULL);
	inherit_undo();
	private_umask_undo();
	heap_huge_pages_undo();
	execvpe(l->argv[0], l->argv, env);
	int e = errno;
	ignore(file_write_all(status_fd, &e, sizeof(e)), "the parent then sees exit status 127 only");
	_exit(127);
}

static int exec_condition(int e)
{
	return e == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
}

int launch(const struct launch *l, struct launched *ret, int *ret_errno)
{
	cleanup(channel_close) struct channel out = {-1, -1, false};
	cleanup(channel_close) struct channel err = {-1, -1, false};
	cleanup(freep) char **env = environment(l);
	int r = env ? channel_open(STDOUT_FILENO, &out) : -ENOMEM;
	if (r == 0)
		r = channel_open(STDERR_FILENO, &err);
	int status[2];
	if (r < 0)
		return r;
	if (pipe2(status, O_CLOEXEC) < 0)
		return -errno;
	pid_t parent = getpid(), pid = fork();
	if (pid == 0)
		child_main(l, &out, &err, env, status[1], parent);
	int fork_errno = errno;
	close(status[1]);
	cleanup(closep) int status_fd = status[0];
	if (pid < 0)
		return -fork_errno;
	if (l->meanwhile)
		l->meanwhile(l->ctx);
	int e;
	ssize_t n = read(status_fd, &e, sizeof(e)); /* end of file: exec worked */
	if (n == (ssize_t)sizeof(e)) {
		(void)waitpid(pid, NULL, 0);
		*ret_errno = e;
		return exec_condition(e);
	}
	*ret = (struct launched){
		.pid = pid,
		.pidfd = (int)syscall(SYS_pidfd_open, pid, 0),
		.out_fd = take_fd(&out.ours),
		.err_fd = take_fd(&err.ours),
		.out_tty = out.tty,
		.err_tty = err.tty,
	};
	return 0;
}

void launch_resize(const struct launched *c)
{
	struct winsize size;
	if (c->out_tty && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		(void)ioctl(c->out_fd, TIOCSWINSZ, &size);
	if (c->err_tty && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0)
		(void)ioctl(c->err_fd, TIOCSWINSZ, &size);
}
