#include "agent/web/webbeside.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"

/* In the grandchild. */
static _Noreturn void server_become(int proc_fd, const char *given, pid_t until)
{
	char pid[16];
	sigset_t none;
	(void)setsid();
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setpriority(PRIO_PROCESS, 0, 5);
	int null_fd = file_null();
	if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 || dup2(null_fd, STDOUT_FILENO) < 0)
		_exit(125);
	(void)syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
	TEXT_FORMAT(pid, "%d", (int)until);
	const char *argv[] = {"vigil", "dashboard", "--until", pid, given ? "--state" : NULL, given, NULL};
	(void)execveat(proc_fd, "self/exe", (char *const *)(uintptr_t)argv, environ, 0);
	_exit(127);
}

int webbeside_start(const struct world *w, const char *given)
{
	int status;
	pid_t supervisor = getpid(), pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		pid_t server = fork();
		if (server == 0)
			server_become(w->proc_fd, given, supervisor);
		_exit(server < 0 ? 1 : 0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EAGAIN;
}

void webbeside_over(const char *given)
{
	log_info("the page ended with the job; to see it again: vigil dashboard%s%s", given ? " --state " : "",
		 given ? given : "");
}
