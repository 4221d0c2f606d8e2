#include "act/hook.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "act/inherit.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/foreign_path.h"
#include "base/heap.h"
#include "base/private.h"
#include "base/text.h"

#define ENVIRONMENT_MAX 16
#define VARIABLE_MAX 512
/* Exit status for a program that cannot be executed, as of a shell. */
#define STATUS_NOT_EXECUTED 126

/* The input is a file, so that a program that does not read it blocks no writer. */
static int input_file(const struct hook *h)
{
	cleanup(closep) int fd = memfd_create("vigil-notice", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	int r = file_write_all(fd, h->input, h->input_len);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	return r < 0 ? r : take_fd(&fd);
}

static void environment(const struct hook *h, const char *list[static ENVIRONMENT_MAX + 1],
			char text[static ENVIRONMENT_MAX][VARIABLE_MAX])
{
	char path[PATH_MAX];
	foreign_environ_path(path, sizeof(path));
	const char *const kept[][2] = {
		{"PATH", path}, {"HOME", foreign_environ_home()}, {"LANG", getenv("LANG")}, {"TZ", getenv("TZ")}};
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		if (!kept[i][1] || strlen(kept[i][1]) > VARIABLE_MAX - 12)
			continue;
		(void)text_format(text[n], VARIABLE_MAX, "%s=%s", kept[i][0], kept[i][1]);
		list[n] = text[n];
		n++;
	}
	for (size_t i = 0; h->environment && h->environment[i] && n < ENVIRONMENT_MAX; i++)
		list[n++] = h->environment[i];
	list[n] = NULL;
}

/* program: where it is; NULL: nowhere. */
static void become(const struct hook *h, const char *program, int input, int output, const char *const *list)
{
	sigset_t none;
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)setsid();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* without vigil, no process would enforce the deadline */
	if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
		_exit(STATUS_NOT_EXECUTED);
	ignore(syscall(SYS_close_range, 3U, ~0U, 0U), "an old kernel: descriptors are closed on exec");
	/* Not in the folder of a job, whose user may put programs and modules there that this one would find. */
	if (chdir("/") < 0)
		_exit(STATUS_NOT_EXECUTED);
	char *const *argv = (char *const *)(uintptr_t)h->argv;
	char *const *envp = (char *const *)(uintptr_t)list;
	inherit_undo();
	private_umask_undo();
	heap_huge_pages_undo();
	errno = ENOENT;
	if (program)
		(void)execvpe(program, argv, envp);
	(void)dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
	_exit(STATUS_NOT_EXECUTED);
}

/*
 * Keeps the beginning of the output and reads the rest too, because a full pipe would block the program. False at the
 * end.
 */
static bool listen_to(int fd, struct buf *said)
{
	char part[4096];
	ssize_t n = read(fd, part, sizeof(part));
	if (n > 0)
		buf_add_n(said, part, (size_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

static void attend(pid_t pid, int output, uint64_t timeout_ms, struct hook_result *ret)
{
	uint64_t until = clock_mono_ns() + timeout_ms * NS_PER_MS;
	char text[sizeof(ret->said)] = "";
	struct buf said = BUF_ON(text);
	bool open = true, ended = false;
	while (!ended) {
		uint64_t now = clock_mono_ns();
		struct pollfd p = {.fd = open ? output : -1, .events = POLLIN};
		if (now >= until && !ret->timed_out) {
			ret->timed_out = true;
			(void)kill(-pid, SIGKILL);
			(void)kill(pid, SIGKILL); /* in case the child has not called setsid yet */
		}
		/* its children may keep the pipe open, so the end of the program itself is waited for */
		if (poll(&p, 1, 20) > 0)
			open = listen_to(output, &said);
		ended = waitpid(pid, &ret->wait_status, WNOHANG) == pid;
	}
	struct pollfd rest = {.fd = output, .events = POLLIN};
	while (open && poll(&rest, 1, 0) > 0)
		open = listen_to(output, &said) && said.len + 1 < said.cap;
	(void)kill(-pid, SIGKILL); /* processes left in its session */
	span_copy(span_trim(span_of(text)), ret->said, sizeof(ret->said));
}

int hook_run(const struct hook *h, struct hook_result *ret)
{
	static char text[ENVIRONMENT_MAX][VARIABLE_MAX];
	char program[PATH_MAX];
	const char *list[ENVIRONMENT_MAX + 1];
	int ends[2];
	cleanup(closep) int input = input_file(h);
	if (input < 0)
		return input;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	cleanup(closep) int output = ends[0];
	cleanup(closep) int theirs = ends[1];
	environment(h, list, text);
	/* a whole path is the administrator's own; a name is looked for */
	TEXT_COPY(program, h->argv[0]);
	const bool found = strchr(program, '/') || foreign_environ_find(h->argv[0], program);
	pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		become(h, found ? program : NULL, input, theirs, list);
	closep(&theirs);
	*ret = (struct hook_result){.timed_out = false};
	attend(pid, output, h->timeout_ms, ret);
	return 0;
}
