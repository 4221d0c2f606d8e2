#include "sense/bpf/bpfcall.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sense/ns.h"

int bpf_call(int command, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, command, attr, sizeof(*attr));
	return r < 0 ? -errno : (int)r;
}

int bpf_tracepoint_open(int prog_fd)
{
	union bpf_attr a;
	memset(&a, 0, sizeof(a));
	a.raw_tracepoint.prog_fd = (uint32_t)prog_fd;
	return bpf_call(BPF_RAW_TRACEPOINT_OPEN, &a);
}

void bpf_numbers_clear(int map_fd, size_t most)
{
	uint32_t key;
	union bpf_attr a;
	for (size_t i = 0; i <= most; i++) {
		memset(&a, 0, sizeof(a));
		a.map_fd = (uint32_t)map_fd;
		a.next_key = (uint64_t)(uintptr_t)&key; /* of no key: the first one */
		if (bpf_call(BPF_MAP_GET_NEXT_KEY, &a) < 0)
			return;
		memset(&a, 0, sizeof(a));
		a.map_fd = (uint32_t)map_fd;
		a.key = (uint64_t)(uintptr_t)&key;
		if (bpf_call(BPF_MAP_DELETE_ELEM, &a) < 0)
			return;
	}
}

bool bpf_sees_numbers(const struct world *w)
{
	struct stat st;
	return w->proc_fd >= 0 && fstatat(w->proc_fd, "self/ns/pid", &st, 0) == 0 && st.st_ino == PID_NAMESPACE_FIRST;
}

int bpf_rows_read(const struct bpf_rows *rows, bool drop, size_t cap, size_t *ret_n)
{
	size_t n = 0;
	uint64_t position = 0;
	int r = 0;
	for (bool first = true; n < cap && r == 0; first = false) {
		union bpf_attr a;
		memset(&a, 0, sizeof(a));
		a.batch.map_fd = (uint32_t)rows->map_fd;
		a.batch.in_batch = first ? 0 : (uint64_t)(uintptr_t)&position;
		a.batch.out_batch = (uint64_t)(uintptr_t)&position;
		a.batch.keys = (uint64_t)(uintptr_t)rows->keys;
		a.batch.values = (uint64_t)(uintptr_t)rows->values;
		a.batch.count = (uint32_t)MIN((size_t)BPF_ROWS_AT_ONCE, cap - n);
		r = bpf_call(drop ? BPF_MAP_LOOKUP_AND_DELETE_BATCH : BPF_MAP_LOOKUP_BATCH, &a);
		const size_t got = r == 0 || r == -ENOENT ? a.batch.count : 0;
		for (size_t i = 0; rows->read_one && i < got; i++)
			rows->read_one(rows->ctx, n + i, i);
		n += got;
	}
	*ret_n = n;
	/* The last batch ends with ENOENT; a bucket that does not fit, with ENOSPC. */
	return r == -ENOENT || r == -ENOSPC ? 0 : r;
}
