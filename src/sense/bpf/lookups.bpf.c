/*
 * Counts lookups of files that are not there: system calls that name a path and end with ENOENT, of watched processes,
 * by thread and path; of those that are there by calls that only ask (stat, access); and locks of files that are not
 * had, tried without waiting (flock, fcntl), by thread and file. And all calls of their main threads, those that only
 * let time pass apart from the others. Attached for a few seconds while a suspected job is looked at;
 * sense/proc/lookups.c reads it.
 *
 * At the end of a system call its arguments are still in the registers as they were, and the page of the path has just
 * been read by the kernel. This is so on x86_64; elsewhere the program is not loaded.
 */
#include "kernel_types.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "files.bpf.h"
#include "records.h"

char LICENSE[] SEC("license") = "GPL";

enum { NO_SUCH_FILE = -2, TRY_AGAIN = -11 };
enum { SET_LOCK = 6, SET_OFD_LOCK = 37 }; /* F_SETLK, F_OFD_SETLK */

/* Of each system call by number: BPF_LOOKUP_…; 0: it is none of these. Filled when loaded. */
const volatile __u8 path_argument[BPF_LOOKUP_CALLS] = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BPF_LOOKUP_PROCESSES);
	__type(key, __u32);
	__type(value, __u32);
} watched SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_LOOKUP_ROWS);
	__type(key, struct bpf_lookup_key);
	__type(value, struct bpf_lookup_count);
} rows SEC(".maps");

static __always_inline void row_count(struct bpf_lookup_key *key)
{
	struct bpf_lookup_count now = {.n = 1, .last_ns = bpf_ktime_get_ns()};
	struct bpf_lookup_count *before = bpf_map_lookup_elem(&rows, key);
	if (before)
		now.n += before->n;
	bpf_map_update_elem(&rows, key, &now, BPF_ANY);
}

/* A lock that somebody else has: the file is still open, so its number tells which one. */
static __always_inline void lock_count(struct task_struct *me, struct pt_regs *regs, __u8 call)
{
	unsigned long command = BPF_CORE_READ(regs, si);
	if ((call & BPF_LOOKUP_BY_COMMAND) && command != SET_LOCK && command != SET_OFD_LOCK)
		return;
	unsigned long fd = BPF_CORE_READ(regs, di);
	struct fdtable *table = BPF_CORE_READ(me, files, fdt);
	struct file **files = BPF_CORE_READ(table, fd), *file = NULL;
	if (fd >= BPF_CORE_READ(table, max_fds) || bpf_probe_read_kernel(&file, sizeof(file), files + fd) || !file)
		return;
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct bpf_lookup_key key = {
		.tgid = me->tgid,
		.tid = me->pid,
		.folder = BPF_LOOKUP_CWD,
		.dev = BPF_CORE_READ(inode, i_sb, s_dev),
		.inode = BPF_CORE_READ(inode, i_ino),
	};
	row_count(&key);
}

/* One more call of a main thread. */
static __always_inline void call_count(struct task_struct *me, struct pt_regs *regs, __u8 call)
{
	__u8 argument = call & BPF_LOOKUP_ARGUMENT;
	bool sleeps = call & BPF_LOOKUP_SLEEPS;
	if (argument == 1)
		sleeps = sleeps && BPF_CORE_READ(regs, di) == 0;
	else if (argument == 2)
		sleeps = sleeps && BPF_CORE_READ(regs, si) == 0;
	struct bpf_lookup_key key = {.tgid = me->tgid, .tid = me->pid, .folder = BPF_LOOKUP_CWD, .found = sleeps};
	row_count(&key);
}

/* arguments: the registers, the call's result */
SEC("tp_btf/sys_exit")
int lookups(__u64 *args)
{
	struct pt_regs *regs = (void *)args[0];
	long result = (long)args[1];
	struct task_struct *me = bpf_get_current_task_btf();
	__u32 tgid = me->tgid;
	if (!bpf_map_lookup_elem(&watched, &tgid))
		return 0;
	unsigned long nr = BPF_CORE_READ(regs, orig_ax);
	__u8 call = nr < BPF_LOOKUP_CALLS ? path_argument[nr] : 0, argument = call & BPF_LOOKUP_ARGUMENT;
	if (me->pid == me->tgid)
		call_count(me, regs, call);
	if (call & BPF_LOOKUP_SLEEPS)
		return 0;
	if (result == TRY_AGAIN) {
		if (call & BPF_LOOKUP_LOCKS)
			lock_count(me, regs, call);
		return 0;
	}
	if (argument == 0 || (result != NO_SUCH_FILE && (result != 0 || !(call & BPF_LOOKUP_ASKS))))
		return 0;
	struct bpf_lookup_key key = {.tgid = tgid, .tid = me->pid, .folder = BPF_LOOKUP_CWD, .found = result == 0};
	unsigned long first = BPF_CORE_READ(regs, di), path = first;
	if (argument == 2) {
		key.folder = (int)first;
		path = BPF_CORE_READ(regs, si);
	}
	long len = bpf_probe_read_user_str(key.path, sizeof(key.path), (void *)path);
	if (len <= 1 || len >= (long)sizeof(key.path)) /* what does not fit is not told */
		return 0;
	row_count(&key);
	return 0;
}
