/* The functions of bpfload.h in a build without BPF. */
#include "sense/bpf/bpfload.h"

#include "base/buf.h"

static int absent(char *why, size_t cap)
{
	(void)text_copy(why, cap, "this vigil was built without BPF (clang, bpftool and libbpf were not there)");
	return WORLD_ABSENT;
}

int bpf_tasks_load(int *ret_iter_link_fd, char *why, size_t cap)
{
	(void)ret_iter_link_fd;
	return absent(why, cap);
}

int bpf_sigwatch_load(pid_t below, struct bpf_sigwatch_fds *ret, char *why, size_t cap)
{
	(void)below;
	(void)ret;
	return absent(why, cap);
}

int bpf_start_load(pid_t below, int *ret_iter_link_fd, struct bpf_sigwatch_fds *ret)
{
	(void)below;
	(void)ret_iter_link_fd;
	(void)ret;
	return WORLD_ABSENT;
}

int bpf_instant_load(struct bpf_instant_fds *ret, char *why, size_t cap)
{
	(void)ret;
	return absent(why, cap);
}

int bpf_wakers_load(const uint16_t *waits, const uint16_t *ends, struct bpf_wakers_fds *ret, char *why, size_t cap)
{
	(void)waits;
	(void)ends;
	(void)ret;
	return absent(why, cap);
}

int bpf_refused_load(struct bpf_refused_fds *ret, char *why, size_t cap)
{
	(void)ret;
	return absent(why, cap);
}

int bpf_lookups_load(const uint16_t *path_argument, struct bpf_lookups_fds *ret, char *why, size_t cap)
{
	(void)path_argument;
	(void)ret;
	return absent(why, cap);
}
