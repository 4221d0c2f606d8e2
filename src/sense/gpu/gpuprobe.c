#include "sense/gpu/gpuprobe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/signame.h"

#define RETRY_NS (60 * NS_PER_S)

struct gpuprobe_shared {
	struct gpu_call call;
	struct gpu_set set;
};

void gpu_call_begin(struct gpu_call *c, const char *name)
{
	atomic_store(&c->name, name);
	atomic_store(&c->since_ns, clock_mono_ns());
}

void gpu_call_end(struct gpu_call *c)
{
	atomic_store(&c->since_ns, 0);
}

void gpuprobe_init(struct gpuprobe *p, const struct gpu_backend *backend, const struct world *w,
		   struct gpuprobe_limits limits)
{
	*p = (struct gpuprobe){.backend = backend, .world = w, .limits = limits, .fd = -1};
}

/*
 * Closes all descriptors but the three that the child needs. A child that cannot be killed would otherwise keep our
 * output open, and its reader would wait for the child's end.
 */
static void child_alone(int *fd, struct world *w)
{
	int keep[] = {*fd, w->proc_fd, w->sys_fd};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* First move them above 15, so that none is overwritten before it is moved to its place. */
	for (size_t i = 0; i < ARRAY_SIZE(keep); i++)
		keep[i] = keep[i] >= 0 ? fcntl(keep[i], F_DUPFD_CLOEXEC, 16) : -1;
	for (int i = 0; i < 3; i++)
		if (null >= 0)
			ignore(dup2(null, i), "then that stream stays closed");
	int to[ARRAY_SIZE(keep)], first = 3 + (int)ARRAY_SIZE(keep);
	for (int i = 0; i < (int)ARRAY_SIZE(keep); i++) {
		to[i] = keep[i] >= 0 ? dup2(keep[i], i + 3) : -1;
		if (to[i] < 0)
			close(i + 3); /* a descriptor of ours can have that number */
	}
	if (close_range((unsigned)first, ~0u, 0) < 0) /* before Linux 5.9 */
		for (int i = first; i < 65536; i++)
			close(i);
	*fd = to[0];
	w->proc_fd = to[1];
	w->sys_fd = to[2];
	w->cgroup_fd = w->shm_fd = w->kmsg_fd = -1;
}

static _Noreturn void child_run(const struct gpuprobe *p, int fd, pid_t parent)
{
	struct gpuprobe_shared *s = p->shared;
	struct world w = *p->world;
	void *state = NULL;
	char c;
	ignore(prctl(PR_SET_PDEATHSIG, SIGKILL), "the closed socket ends it, too");
	ignore(prctl(PR_SET_NAME, "vigil-gpu"), "a name for people");
	const struct rlimit none = {0, 0};
	ignore(setrlimit(RLIMIT_CORE, &none), "a crash of the library is told without a file");
	for (int sig = 1; sig < NSIG; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			(void)signal(sig, sig == SIGPIPE || sig == SIGINT ? SIG_IGN : SIG_DFL);
	sigset_t nothing;
	sigemptyset(&nothing);
	ignore(sigprocmask(SIG_SETMASK, &nothing, NULL), "cannot fail");
	child_alone(&fd, &w);
	if (getppid() != parent)
		_exit(0);
	bool opened = false;
	while (read(fd, &c, 1) == 1) {
		if (!opened) {
			p->backend->open(&w, &s->call, &state, &s->set);
			opened = true;
		}
		if (s->set.n_drivers == 0 || s->set.driver[0].state == GPU_DRIVER_READY)
			p->backend->sample(state, &s->set);
		gpu_call_end(&s->call);
		if (write(fd, &c, 1) != 1)
			break;
	}
	_exit(0);
}

static int child_start(struct gpuprobe *p)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	cleanup(closep) int ours = pair[0], theirs = pair[1];
	if (!p->shared) {
		void *at = mmap(NULL, sizeof(*p->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (at == MAP_FAILED) {
			closep(&theirs);
			return -errno;
		}
		p->shared = at;
	}
	pid_t parent = getpid(), pid = fork();
	if (pid == 0)
		child_run(p, theirs, parent);
	int r = pid < 0 ? -errno : 0;
	closep(&theirs);
	if (r)
		return r;
	p->pid = pid;
	p->fd = take_fd(&ours);
	return 0;
}

static void left_reap(struct gpuprobe *p)
{
	if (p->left && waitpid(p->left, NULL, WNOHANG) != 0)
		p->left = 0;
}

int gpuprobe_ask(struct gpuprobe *p)
{
	left_reap(p);
	if (p->pid == 0 && p->retry_ns && clock_mono_ns() < p->retry_ns)
		return 0; /* its finding was reported when it was given up */
	if (p->pid == 0) {
		int r = child_start(p);
		if (r)
			return r;
	} else {
		/* The driver lines are kept: open made them. */
		struct gpu_set *s = &p->shared->set;
		s->n = s->n_dropped = s->n_findings = s->n_findings_dropped = s->n_events = 0;
	}
	p->asked_ns = clock_mono_ns();
	return send(p->fd, "?", 1, MSG_NOSIGNAL) == 1 ? 0 : errno == EPIPE ? 0 : -errno;
}

/* Kills the child; a child that is blocked inside the kernel is left behind in p->left. */
static void child_leave(struct gpuprobe *p)
{
	closep(&p->fd);
	if (p->pid)
		ignore(kill(p->pid, SIGKILL), "it may be gone");
	/* It ends at once or is blocked in the driver: poll for 100 ms, then leave it to a later call or to init. */
	p->left = p->pid;
	for (int i = 0; p->left && i < 100; i++) {
		left_reap(p);
		ignore(poll(NULL, 0, p->left ? 1 : 0), "a pause");
	}
	p->pid = 0;
	if (p->shared)
		munmap(p->shared, sizeof(*p->shared)); /* it can still write there; the next child gets new memory */
	p->shared = NULL;
}

enum { ANSWERED, LATE, DIED };

static int answer_wait(const struct gpuprobe *p, uint64_t *ret_late_ns)
{
	uint64_t total_end = p->asked_ns + p->limits.total_ns;
	for (;;) {
		uint64_t now = clock_mono_ns(), since = atomic_load(&p->shared->call.since_ns);
		uint64_t end = since ? MIN(since + p->limits.call_ns, total_end) : total_end;
		if (now >= end) {
			*ret_late_ns = now - (since ? since : p->asked_ns);
			return LATE;
		}
		struct pollfd f = {.fd = p->fd, .events = POLLIN};
		/* The child can enter another call meanwhile, so its call is read again after at most 100 ms. */
		int n = poll(&f, 1, (int)MIN((end - now) / NS_PER_MS + 1, UINT64_C(100)));
		if (n <= 0)
			continue;
		char c;
		return recv(p->fd, &c, 1, MSG_DONTWAIT) == 1 ? ANSWERED : DIED;
	}
}

static void died_add(struct gpuprobe *p, const char *call, struct gpu_set *set)
{
	int status = 0;
	pid_t r = 0;
	for (int i = 0; i < 200 && (r = waitpid(p->pid, &status, WNOHANG)) == 0; i++)
		ignore(poll(NULL, 0, 1), "a pause");
	char how[48] = "went away";
	if (r == p->pid && WIFSIGNALED(status))
		TEXT_FORMAT(how, "died of signal %d (%s)", WTERMSIG(status), signame(WTERMSIG(status)) ?: "no name");
	if (r == p->pid)
		p->pid = 0;
	struct gpu_finding *f =
		gpu_finding_add(set, GPU_CRASHED, call, "", "%s (%s) %s in %s; what it had told before is shown",
				p->backend->name, p->backend->library, how, call);
	f->code = r > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* Joins what the child had read. Values of the device that it was reading can be missing. */
static void partial_join(struct gpuprobe *p, struct gpu_set *set)
{
	cleanup(freep) struct gpu_set *copy = malloc(sizeof(*copy));
	if (!copy)
		return;
	memcpy(copy, &p->shared->set, sizeof(*copy)); /* the child can still write, so its counts are read once */
	copy->n = MIN(copy->n, (uint32_t)GPU_MAX);
	for (uint32_t i = 0; i < copy->n; i++)
		copy->gpu[i].n_processes = MIN(copy->gpu[i].n_processes, (uint32_t)GPU_PROCESSES);
	gpu_set_join(set, copy);
	if (copy->n_drivers)
		return;
	struct gpu_driver *d = set->n_drivers < GPU_DRIVERS ? &set->driver[set->n_drivers++] : NULL;
	if (!d)
		return;
	*d = (struct gpu_driver){.state = GPU_DRIVER_FAILED};
	TEXT_COPY(d->name, p->backend->name);
	TEXT_FORMAT(d->text, "%s did not come up", p->backend->library);
}

void gpuprobe_collect(struct gpuprobe *p, struct gpu_set *set)
{
	if (p->pid == 0)
		return;
	uint64_t late_ns = 0;
	int r = answer_wait(p, &late_ns);
	const char *call = atomic_load(&p->shared->call.name);
	if (!call)
		call = "its start";
	partial_join(p, set);
	if (r == ANSWERED)
		return;
	if (r == LATE)
		gpu_finding_add(
			set, GPU_BLOCKED, call, "",
			"%s has not answered %s for %.1f s; it is asked no more for %llu s. A call that does not come "
			"back mostly means that the driver or the GPU is stuck: look for Xid or NPU errors in the "
			"kernel log",
			p->backend->name, call, (double)late_ns / 1e9, (unsigned long long)(RETRY_NS / NS_PER_S));
	else
		died_add(p, call, set);
	p->retry_ns = clock_mono_ns() + RETRY_NS;
	child_leave(p);
}

void gpuprobe_stop(struct gpuprobe *p)
{
	child_leave(p);
}
