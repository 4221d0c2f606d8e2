#include "sense/bpf/bpfload.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "sense/bpf/records.h"

/* The generated headers write __attribute__((unused)), which collides with base.h's macro `unused`. */
#pragma push_macro("unused")
#undef unused
#include "instant.skel.h"
#include "lookups.skel.h"
#include "refused.skel.h"
#include "start.skel.h"
#include "wakers.skel.h"
#pragma pop_macro("unused")

/*
 * On kernels before 5.11 libbpf raises our limit on locked memory for good, and the job would inherit that. The limit
 * is restored afterwards.
 */
struct memlock {
	struct rlimit limit;
	bool known;
};

static struct memlock memlock_remember(void)
{
	struct memlock m = {};
	m.known = getrlimit(RLIMIT_MEMLOCK, &m.limit) == 0;
	return m;
}

static void memlock_restore(struct memlock *m)
{
	if (m->known)
		ignore(setrlimit(RLIMIT_MEMLOCK, &m->limit), "lowering back what was raised cannot fail");
}

static int no_talk(enum libbpf_print_level level unused, const char *fmt unused, va_list ap unused)
{
	return 0;
}

/* libbpf returns many errors; the caller needs to know whether more rights would help. */
static int condition_of(int r, const char *what, char *why, size_t cap)
{
	switch (-r) {
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		return r;
	case EPERM:
	case EACCES:
		(void)text_format(why, cap, "%s needs CAP_BPF and CAP_PERFMON (or root): %s", what, strerror(-r));
		return WORLD_DENIED;
	default:
		(void)text_format(why, cap,
				  "this kernel cannot run the BPF program for %s (it takes Linux 5.8 or later with "
				  "BTF): %s",
				  what, strerror(-r));
		return WORLD_ABSENT;
	}
}

/* A duplicate that outlives libbpf's own descriptor. */
static int fd_keep(int fd, int *ret)
{
	int kept = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (kept < 0)
		return -errno;
	*ret = kept;
	return 0;
}

static int attach_keep(const struct bpf_program *prog, int *ret_fd)
{
	struct bpf_link *link = bpf_program__attach(prog);
	if (!link)
		return -errno;
	int r = fd_keep(bpf_link__fd(link), ret_fd);
	ignore(bpf_link__destroy(link), "only closes; the kernel's link lives on through the kept descriptor");
	return r;
}

static void start_skel_freep(struct start_bpf **skel)
{
	start_bpf__destroy(*skel);
}

enum sigwatch_part { PART_NONE, PART_SIGNALS, PART_ENDS, PART_ENVIRONMENTS }; /* each with those before it */

/* Not every kernel has all that the later parts read. */
static int start_choose(struct start_bpf *skel, bool tasks, enum sigwatch_part upto)
{
	int r = bpf_program__set_autoload(skel->progs.taskiter, tasks);
	if (r == 0)
		r = bpf_program__set_autoload(skel->progs.sigwatch, upto == PART_SIGNALS || upto == PART_ENDS);
	if (r == 0)
		r = bpf_program__set_autoload(skel->progs.sigwatch_loop, upto >= PART_ENVIRONMENTS);
	if (r == 0)
		r = bpf_program__set_autoload(skel->progs.endwatch, upto == PART_ENDS);
	if (r == 0)
		r = bpf_program__set_autoload(skel->progs.endwatch_environment, upto >= PART_ENVIRONMENTS);
	if (r == 0)
		r = bpf_program__set_autoload(skel->progs.envwatch, upto >= PART_ENVIRONMENTS);
	return r;
}

static int sigwatch_keep(const struct start_bpf *skel, enum sigwatch_part upto, struct bpf_sigwatch_fds *ret)
{
	cleanup(closep) int ring_fd = -1, link_fd = -1, end_link_fd = -1, env_link_fd = -1;
	const bool all = upto >= PART_ENVIRONMENTS;
	struct bpf_program *ends = all ? skel->progs.endwatch_environment : skel->progs.endwatch;
	int r = fd_keep(bpf_map__fd(skel->maps.ring), &ring_fd);
	if (r == 0)
		r = attach_keep(all ? skel->progs.sigwatch_loop : skel->progs.sigwatch, &link_fd);
	if (r == 0 && upto >= PART_ENDS)
		r = attach_keep(ends, &end_link_fd);
	if (r == 0 && upto >= PART_ENVIRONMENTS)
		r = attach_keep(skel->progs.envwatch, &env_link_fd);
	if (r < 0)
		return r;
	*ret = (struct bpf_sigwatch_fds){
		.link_fd = take_fd(&link_fd),
		.end_link_fd = take_fd(&end_link_fd),
		.env_link_fd = take_fd(&env_link_fd),
		.ring_bytes = bpf_map__max_entries(skel->maps.ring),
		.ring_fd = take_fd(&ring_fd),
	};
	return 0;
}

/* Either of ret_iter_link_fd and ret may be NULL: that part is not loaded. */
static int start_load(pid_t below, enum sigwatch_part upto, int *ret_iter_link_fd, struct bpf_sigwatch_fds *ret)
{
	cleanup(closep) int iter = -1;
	cleanup(start_skel_freep) struct start_bpf *skel = start_bpf__open();
	if (!skel)
		return -errno;
	skel->rodata->below = below;
	int r = start_choose(skel, ret_iter_link_fd, upto);
	if (r == 0)
		r = start_bpf__load(skel);
	if (r == 0 && ret_iter_link_fd)
		r = attach_keep(skel->progs.taskiter, &iter);
	if (r == 0 && ret)
		r = sigwatch_keep(skel, upto, ret);
	if (r == 0 && ret_iter_link_fd)
		*ret_iter_link_fd = take_fd(&iter);
	return r;
}

int bpf_tasks_load(int *ret_iter_link_fd, char *why, size_t cap)
{
	cleanup(memlock_restore) unused struct memlock limit = memlock_remember();
	(void)libbpf_set_print(no_talk);
	int r = start_load(0, PART_NONE, ret_iter_link_fd, NULL);
	return r < 0 ? condition_of(r, "reading all processes at once", why, cap) : 0;
}

int bpf_sigwatch_load(pid_t below, struct bpf_sigwatch_fds *ret, char *why, size_t cap)
{
	cleanup(memlock_restore) unused struct memlock limit = memlock_remember();
	(void)libbpf_set_print(no_talk);
	int r = -ENOENT;
	for (int upto = below ? PART_ENVIRONMENTS : PART_SIGNALS; r < 0 && upto >= PART_SIGNALS; upto--)
		r = start_load(below, (enum sigwatch_part)upto, NULL, ret);
	return r < 0 ? condition_of(r, "seeing who sends signals", why, cap) : 0;
}

int bpf_start_load(pid_t below, int *ret_iter_link_fd, struct bpf_sigwatch_fds *ret)
{
	cleanup(memlock_restore) unused struct memlock limit = memlock_remember();
	(void)libbpf_set_print(no_talk);
	const enum sigwatch_part all = below ? PART_ENVIRONMENTS : PART_SIGNALS;
	return start_load(below, all, ret_iter_link_fd, ret) < 0 ? WORLD_ABSENT : 0;
}

static void instant_skel_freep(struct instant_bpf **skel)
{
	instant_bpf__destroy(*skel);
}

static int instant_load(struct bpf_instant_fds *ret)
{
	cleanup(closep) int prog_fd = -1;
	int map_fd = -1;
	cleanup(instant_skel_freep) struct instant_bpf *skel = instant_bpf__open();
	if (!skel)
		return -errno;
	int r = instant_bpf__load(skel);
	if (r == 0)
		r = fd_keep(bpf_program__fd(skel->progs.instant), &prog_fd);
	if (r == 0)
		r = fd_keep(bpf_map__fd(skel->maps.scratch), &map_fd);
	if (r < 0)
		return r;
	*ret = (struct bpf_instant_fds){.prog_fd = take_fd(&prog_fd), .map_fd = map_fd};
	return 0;
}

int bpf_instant_load(struct bpf_instant_fds *ret, char *why, size_t cap)
{
	cleanup(memlock_restore) unused struct memlock limit = memlock_remember();
	(void)libbpf_set_print(no_talk);
	int r = instant_load(ret);
	return r < 0 ? condition_of(r, "looking at threads that run without stopping them", why, cap) : 0;
}

static void wakers_skel_freep(struct wakers_bpf **skel)
{
	wakers_bpf__destroy(*skel);
}

static int wakers_load(const uint16_t *waits, const uint16_t *ends, struct bpf_wakers_fds *ret)
{
	cleanup(closep) int prog = -1, pairs = -1, watched = -1;
	int asked = -1;
	cleanup(wakers_skel_freep) struct wakers_bpf *skel = wakers_bpf__open();
	if (!skel)
		return -errno;
	memcpy((void *)skel->rodata->waits, waits, sizeof(skel->rodata->waits));
	memcpy((void *)skel->rodata->ends, ends, sizeof(skel->rodata->ends));
	int r = wakers_bpf__load(skel);
	if (r == 0)
		r = fd_keep(bpf_program__fd(skel->progs.wakers), &prog);
	if (r == 0)
		r = fd_keep(bpf_map__fd(skel->maps.pairs), &pairs);
	if (r == 0)
		r = fd_keep(bpf_map__fd(skel->maps.watched), &watched);
	if (r == 0)
		r = fd_keep(bpf_map__fd(skel->maps.asked), &asked);
	if (r < 0)
		return r;
	*ret = (struct bpf_wakers_fds){.prog_fd = take_fd(&prog),
				       .pairs_fd = take_fd(&pairs),
				       .watched_fd = take_fd(&watched),
				       .asked_fd = asked};
	return 0;
}

int bpf_wakers_load(const uint16_t *waits, const uint16_t *ends, struct bpf_wakers_fds *ret, char *why, size_t cap)
{
	cleanup(memlock_restore) unused struct memlock limit = memlock_remember();
	(void)libbpf_set_print(no_talk);
	int r = wakers_load(waits, ends, ret);
	return r < 0 ? condition_of(r, "seeing who ends waits", why, cap) : 0;
}

static void refused_skel_freep(struct refused_bpf **skel)
{
	refused_bpf__destroy(*skel);
}

static int refused_load(struct bpf_refused_fds *ret)
{
	cleanup(closep) int prog_fd = -1;
	int rows_fd = -1;
	cleanup(refused_skel_freep) struct refused_bpf *skel = refused_bpf__open();
	if (!skel)
		return -errno;
	int r = refused_bpf__load(skel);
	if (r == 0)
		r = fd_keep(bpf_program__fd(skel->progs.refused), &prog_fd);
	if (r == 0)
		r = fd_keep(bpf_map__fd(skel->maps.rows), &rows_fd);
	if (r < 0)
		return r;
	*ret = (struct bpf_refused_fds){.prog_fd = take_fd(&prog_fd), .rows_fd = rows_fd};
	return 0;
}

int bpf_refused_load(struct bpf_refused_fds *ret, char *why, size_t cap)
{
	cleanup(memlock_restore) unused struct memlock limit = memlock_remember();
	(void)libbpf_set_print(no_talk);
	int r = refused_load(ret);
	return r < 0 ? condition_of(r, "seeing connections that are refused", why, cap) : 0;
}

static void lookups_skel_freep(struct lookups_bpf **skel)
{
	lookups_bpf__destroy(*skel);
}

static int lookups_load(const uint16_t *path_argument, struct bpf_lookups_fds *ret)
{
	cleanup(closep) int prog = -1, watched = -1;
	int rows = -1;
	cleanup(lookups_skel_freep) struct lookups_bpf *skel = lookups_bpf__open();
	if (!skel)
		return -errno;
	memcpy((void *)skel->rodata->path_argument, path_argument, sizeof(skel->rodata->path_argument));
	int r = lookups_bpf__load(skel);
	if (r == 0)
		r = fd_keep(bpf_program__fd(skel->progs.lookups), &prog);
	if (r == 0)
		r = fd_keep(bpf_map__fd(skel->maps.watched), &watched);
	if (r == 0)
		r = fd_keep(bpf_map__fd(skel->maps.rows), &rows);
	if (r < 0)
		return r;
	*ret = (struct bpf_lookups_fds){.prog_fd = take_fd(&prog), .watched_fd = take_fd(&watched), .rows_fd = rows};
	return 0;
}

int bpf_lookups_load(const uint16_t *path_argument, struct bpf_lookups_fds *ret, char *why, size_t cap)
{
	cleanup(memlock_restore) unused struct memlock limit = memlock_remember();
	(void)libbpf_set_print(no_talk);
	int r = lookups_load(path_argument, ret);
	return r < 0 ? condition_of(r, "seeing which files are looked for in vain", why, cap) : 0;
}
