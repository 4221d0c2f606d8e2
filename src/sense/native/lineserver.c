#include "sense/native/lineserver.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/foreign_helper.h"
#include "base/heap.h"
#include "sense/fdpass.h"
#include "sense/native/lines.h"

#define FILES_MOST 4096
/* Reading the debug information of a large library takes seconds of a slow disk. */
#define ANSWER_NS (5 * NS_PER_S)

enum what { WHAT_ADD, WHAT_LINE, WHAT_INLINED };

struct request {
	uint32_t what, file;
	uint64_t vaddr;
};

struct answer {
	uint32_t found; /* the number of the added file; true */
	uint32_t line;
	char file[4096];
};

struct lineserver {
	struct foreign_server server;
	uid_t uid;
	uint32_t files;
};

/* ---- in the process ---- */

/* The first thing that it is sent. */
struct begin {
	struct foreign_user as;
	struct lineserver_limits limits;
	pid_t parent;
};

static bool limit_set(int what, uint64_t n)
{
	const struct rlimit most = {n, n};
	return setrlimit((__rlimit_resource_t)what, &most) == 0;
}

static bool limits_set(int proc_fd, const struct lineserver_limits *most)
{
	return heap_limit(proc_fd, most->memory_bytes) && limit_set(RLIMIT_CPU, most->cpu_s) &&
	       limit_set(RLIMIT_CORE, 0);
}

/* The groups first, as afterwards they may not be changed. */
static bool user_become(const struct foreign_user *as)
{
	if (geteuid() != 0 || as->uid == 0)
		return true;
	return setgroups(MIN(as->n_groups, (size_t)FOREIGN_GROUPS), as->group) == 0 &&
	       setresgid(as->gid, as->gid, as->gid) == 0 && setresuid(as->uid, as->uid, as->uid) == 0;
}

static void answer_make(const struct libdw *d, const struct request *q, int fd, struct lines **all, uint32_t *n,
			struct answer *ret)
{
	if (q->what == WHAT_ADD) {
		struct lines *l = fd >= 0 && *n < FILES_MOST ? lines_open(d, dup(fd)) : NULL;
		if (l) {
			all[*n] = l;
			ret->found = ++*n;
		}
	} else if (q->file > 0 && q->file <= *n) {
		struct lines *l = all[q->file - 1];
		ret->found = q->what == WHAT_LINE
				     ? lines_find(l, q->vaddr, ret->file, sizeof(ret->file), &ret->line)
				     : lines_find_inlined(l, q->vaddr, ret->file, sizeof(ret->file), &ret->line);
	}
}

static bool begin_receive(int from, struct begin *ret)
{
	cleanup(closep) int none = -1;
	return fdpass_receive(from, ret, sizeof(*ret), &none) == 0;
}

static void lines_serve(int proc_fd, int to)
{
	static struct lines *all[FILES_MOST];
	static struct answer a;
	struct begin b;
	uint32_t n = 0;
	struct libdw *d = libdw_load();
	if (!d || !begin_receive(to, &b) || !limits_set(proc_fd, &b.limits) || !user_become(&b.as))
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* which a change of user takes away */
	if (getppid() != b.parent)
		return;
	for (;;) {
		struct request q;
		cleanup(closep) int fd = -1;
		if (fdpass_receive(to, &q, sizeof(q), &fd) != 0)
			return;
		a = (struct answer){.found = 0};
		answer_make(d, &q, fd, all, &n, &a);
		if (fdpass_send(to, &a, sizeof(a), -1) != 0)
			return;
	}
}

/* ---- its beginning ---- */

/* Where the program finds what it is given. */
enum { TO_FD = STDIN_FILENO, PROC_FD = STDERR_FILENO + 1, FD_FIRST };

static bool has_program;

void lineserver_has_program(void)
{
	has_program = true;
}

int lineserver_main(void)
{
	int null = open("/dev/null", O_RDWR);
	for (int fd = STDOUT_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		if (fd != null)
			(void)dup2(null, fd);
	(void)prctl(PR_SET_NAME, "vigil-helper");
	lines_serve(PROC_FD, TO_FD);
	return 1;
}

/* Without secrets that the environment has. */
static void program_start(int proc_fd, int to)
{
	static char name[] = "vigil", command[] = LINESERVER_COMMAND, path[4096];
	char *argv[] = {name, command, NULL}, *env[] = {NULL, NULL};
	const char *libraries = getenv("LD_LIBRARY_PATH");
	if (libraries && text_format(path, sizeof(path), "LD_LIBRARY_PATH=%s", libraries) < (int)sizeof(path))
		env[0] = path;
	/* What others have the numbers of is moved out of the way first. */
	int proc = fcntl(proc_fd, F_DUPFD_CLOEXEC, FD_FIRST), socket = fcntl(to, F_DUPFD_CLOEXEC, FD_FIRST);
	if (proc >= 0 && socket >= 0 && dup2(socket, TO_FD) == TO_FD && dup2(proc, PROC_FD) == PROC_FD)
		(void)syscall(SYS_execveat, proc, "self/exe", argv, env, 0);
}

static void lineserver_start(const void *arg, int to)
{
	const int *proc_fd = arg;
	if (has_program)
		program_start(*proc_fd, to);
	else
		lines_serve(*proc_fd, to);
}

/* ---- for the others ---- */

struct lineserver *lineserver_new(const struct world *w, const struct foreign_user *as,
				  const struct lineserver_limits *limits)
{
	struct lineserver *s = calloc(1, sizeof(*s));
	const struct begin b = {*as, *limits, getpid()};
	if (!s)
		return NULL;
	s->server = (struct foreign_server){-1, -1, -1};
	s->uid = as->uid;
	if (foreign_worker_start(lineserver_start, &w->proc_fd, w->proc_fd, &s->server) != 0 ||
	    fdpass_send(s->server.fd, &b, sizeof(b), -1) != 0)
		return lineserver_free(s);
	return s;
}

struct lineserver *lineserver_free(struct lineserver *s)
{
	if (!s)
		return NULL;
	foreign_server_end(&s->server);
	free(s);
	return NULL;
}

uid_t lineserver_uid(const struct lineserver *s)
{
	return s->uid;
}

/* False: it is gone, or is ended now. */
static bool server_ask(struct lineserver *s, const struct request *q, int fd, struct answer *ret)
{
	int none = -1;
	if (s->server.fd < 0)
		return false;
	if (fdpass_send(s->server.fd, q, sizeof(*q), fd) == 0 && foreign_server_answers(&s->server, ANSWER_NS) &&
	    fdpass_receive(s->server.fd, ret, sizeof(*ret), &none) == 0) {
		closep(&none);
		ret->file[sizeof(ret->file) - 1] = '\0';
		return true;
	}
	int waiting = foreign_server_leave(&s->server);
	closep(&waiting);
	return false;
}

uint32_t lineserver_add(struct lineserver *s, int fd)
{
	struct answer a;
	const struct request q = {.what = WHAT_ADD};
	return server_ask(s, &q, fd, &a) ? a.found : 0;
}

bool lineserver_find(struct lineserver *s, uint32_t file_number, uint64_t vaddr, bool inlined, char *file, size_t cap,
		     uint32_t *ret_line)
{
	struct answer a;
	const struct request q = {inlined ? WHAT_INLINED : WHAT_LINE, file_number, vaddr};
	if (file_number == 0 || !server_ask(s, &q, -1, &a) || !a.found)
		return false;
	text_copy(file, cap, a.file);
	*ret_line = a.line;
	return true;
}
