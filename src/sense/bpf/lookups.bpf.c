/*
 * Counts lookups of files that are not there: system calls that name a path and end with ENOENT, of watched processes,
 * by thread and path; of those that are there by calls that only ask (stat, access); and locks of files that are not
 * had, tried without waiting (flock, fcntl), by thread and file. And all calls of their main threads, those that only
 * let time pass apart from the others; and of all threads the calls by which they take something in.
 * Attached for a few seconds while a suspected job is looked at;
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
#include "sockets.bpf.h"

char LICENSE[] SEC("license") = "GPL";

enum { NO_SUCH_FILE = -2, TRY_AGAIN = -11, IS_THERE = -17, IN_PROGRESS = -115 };
/* A signal, or a look of vigil's, has ended the call; the last are of linux/errno.h. */
enum { INTERRUPTED = -4, RESTARTS = -512, RESTARTS_NOT = -517 };
enum { MAKING = BPF_LOOKUP_OPENS | BPF_LOOKUP_MAKES }; /* a call that may make a file or folder */
enum { SET_LOCK = 6, SET_OFD_LOCK = 37 }; /* F_SETLK, F_OFD_SETLK */
enum { READABLE = 1, WRITABLE = 2 }; /* FMODE_READ, FMODE_WRITE; of a path alone neither */
enum { ANONYMOUS = 0x09041934, PROCFS = 0x9fa0 }; /* linux/magic.h */

enum { SOCKFS = 0x534f434b }; /* linux/magic.h */
enum { FAMILY_UNIX = 1, FAMILY_INET = 2, FAMILY_INET6 = 10, FAMILY_NETLINK = 16, STREAM = 1 };
enum { NO_SOCKET, NO_CONNECTION, CONNECTION };
/* Commands of fcntl that are about the descriptor itself: F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL. */
enum { DESCRIPTOR_LAST = 4, DUPLICATE_CLOEXEC = 1030 };

/* Of each system call by number: BPF_LOOKUP_…; 0: it is none of these. Filled when loaded. */
const volatile __u16 path_argument[BPF_LOOKUP_CALLS] = {};

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

static __always_inline struct file *file_of(struct task_struct *me, unsigned long fd)
{
	struct fdtable *table = BPF_CORE_READ(me, files, fdt);
	struct file **files = BPF_CORE_READ(table, fd), *file = NULL;
	if (fd >= BPF_CORE_READ(table, max_fds) || bpf_probe_read_kernel(&file, sizeof(file), files + fd))
		return NULL;
	return file;
}

/* A lock that somebody else has: the file is still open, so its number tells which one. */
static __always_inline void lock_count(struct task_struct *me, struct pt_regs *regs, __u16 call)
{
	unsigned long command = BPF_CORE_READ(regs, si);
	if ((call & BPF_LOOKUP_BY_COMMAND) && command != SET_LOCK && command != SET_OFD_LOCK)
		return;
	struct file *file = file_of(me, BPF_CORE_READ(regs, di));
	if (!file)
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
static __always_inline void call_count(struct task_struct *me, struct pt_regs *regs, __u16 call)
{
	__u16 argument = call & BPF_LOOKUP_ARGUMENT;
	bool sleeps = call & BPF_LOOKUP_SLEEPS;
	if (argument == 1)
		sleeps = sleeps && BPF_CORE_READ(regs, di) == 0;
	else if (argument == 2)
		sleeps = sleeps && BPF_CORE_READ(regs, si) == 0;
	struct bpf_lookup_key key = {.tgid = me->tgid, .tid = me->pid, .folder = BPF_LOOKUP_CWD, .found = sleeps};
	row_count(&key);
}

static __always_inline int is_of_descriptor(unsigned long command)
{
	return command <= DESCRIPTOR_LAST || command == DUPLICATE_CLOEXEC;
}

/* True if the name of a folder is this number. */
static __always_inline int is_number(struct dentry *folder, __u32 number)
{
	char name[8] = "";
	__u32 n = 0;
	if (bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(folder, d_name.name)) <= 1)
		return 0;
	for (int i = 0; i < (int)sizeof(name) - 1; i++)
		if (name[i] >= '0' && name[i] <= '9')
			n = n * 10 + (__u32)(name[i] - '0');
		else if (name[i])
			return 0;
		else
			break;
	return n == number;
}

/* True of an eventfd, as a program's own threads wake each other by. */
static __always_inline int is_eventfd(struct file *file)
{
	char name[8] = "";
	struct dentry *d = BPF_CORE_READ(file, f_path.dentry);
	if (bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(d, d_name.name)) < 0)
		return 0;
	return BPF_CORE_READ(file, f_inode, i_sb, s_magic) == ANONYMOUS && name[1] == 'e' && name[6] == 'f';
}

/* True of a file of which nothing of others comes: it is only written, or is the process's own in /proc. */
static __always_inline int is_own(struct task_struct *me, unsigned long fd)
{
	struct file *file = file_of(me, fd);
	if (!file)
		return 0;
	if ((BPF_CORE_READ(file, f_mode) & (READABLE | WRITABLE)) == WRITABLE || is_eventfd(file))
		return 1;
	struct dentry *folder = BPF_CORE_READ(file, f_path.dentry, d_parent);
	return BPF_CORE_READ(file, f_inode, i_sb, s_magic) == PROCFS && is_number(folder, (__u32)me->tgid);
}

/* True if it asks for nothing but an eventfd. */
static __always_inline int polls_eventfd(struct task_struct *me, struct pt_regs *regs)
{
	int fd = -1;
	if (BPF_CORE_READ(regs, si) != 1 || bpf_probe_read_user(&fd, sizeof(fd), (void *)BPF_CORE_READ(regs, di)))
		return 0;
	struct file *file = file_of(me, (unsigned)fd);
	return file && is_eventfd(file);
}

/* An address and port as one number; of the newer addresses the last part tells those of this machine apart. */
static __always_inline __u64 end_of(__u32 address, __u16 port)
{
	return (__u64)address << 16 | port;
}

/*
 * What a call took in over a connection: fills its two ends, of which the other one sees them the other way round.
 * NO_SOCKET: it is something else that came, NO_CONNECTION: nothing came of anybody.
 */
static __always_inline int ends_of(struct task_struct *me, unsigned long fd, struct bpf_lookup_key *key)
{
	__u32 from = 0, to = 0;
	struct file *file = file_of(me, fd);
	if (!file || BPF_CORE_READ(file, f_inode, i_sb, s_magic) != SOCKFS)
		return NO_SOCKET;
	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sk = BPF_CORE_READ(socket, sk);
	const __u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (family == FAMILY_NETLINK && BPF_CORE_READ(sk, sk_protocol) == 0)
		return NO_CONNECTION; /* of the machine's own addresses, as before each connection */
	if (BPF_CORE_READ(sk, sk_type) != STREAM)
		return NO_SOCKET;
	if (family == FAMILY_UNIX) {
		struct unix_sock *of = (struct unix_sock *)sk;
		key->end = (__u64)sk;
		key->other_end = (__u64)BPF_CORE_READ(of, peer);
		return key->other_end ? CONNECTION : NO_CONNECTION;
	}
	if (family == FAMILY_INET) {
		from = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		to = BPF_CORE_READ(sk, __sk_common.skc_daddr);
	} else if (family == FAMILY_INET6) {
		__u8 address[16];
		BPF_CORE_READ_INTO(&address, sk, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr8);
		__builtin_memcpy(&from, address + 12, sizeof(from));
		BPF_CORE_READ_INTO(&address, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr8);
		__builtin_memcpy(&to, address + 12, sizeof(to));
	} else {
		return NO_SOCKET;
	}
	const __be16 port = BPF_CORE_READ(sk, __sk_common.skc_dport);
	key->end = end_of(from, BPF_CORE_READ(sk, __sk_common.skc_num));
	key->other_end = end_of(to, __builtin_bswap16(port));
	return port ? CONNECTION : NO_CONNECTION;
}

/* One more call by which something of others may have come, or by which it was waited for in vain. */
static __always_inline void taken_count(struct task_struct *me, struct pt_regs *regs, __u16 call, long result)
{
	__u16 argument = call & BPF_LOOKUP_ARGUMENT;
	struct bpf_lookup_key key = {.tgid = me->tgid, .tid = me->pid, .folder = BPF_LOOKUP_TAKEN};
	/* A call that was interrupted is made again. */
	if (result == INTERRUPTED || (result <= RESTARTS && result > RESTARTS_NOT))
		return;
	/* A write that fails may wait for room. */
	if ((call & BPF_LOOKUP_GIVES && result >= 0) || (call & BPF_LOOKUP_SLEEPS && !argument))
		return;
	if (call & BPF_LOOKUP_BY_COMMAND && is_of_descriptor(BPF_CORE_READ(regs, si)))
		return;
	if (call & BPF_LOOKUP_BY_FILE && is_own(me, BPF_CORE_READ(regs, di)))
		return;
	if (call & (BPF_LOOKUP_BY_FILE | BPF_LOOKUP_ACCEPTS) &&
	    (result >= 0 || (!(call & BPF_LOOKUP_ACCEPTS) && (result == TRY_AGAIN || result == IN_PROGRESS)))) {
		const unsigned long fd = call & BPF_LOOKUP_ACCEPTS ? (unsigned long)result : BPF_CORE_READ(regs, di);
		const int of = ends_of(me, fd, &key);
		if (of == NO_CONNECTION)
			return;
		if (of == CONNECTION) {
			key.folder = BPF_LOOKUP_ASKED;
			key.tid = 0;
		}
	}
	if (call & BPF_LOOKUP_OPENS && result >= 0 && is_own(me, (unsigned long)result))
		return;
	if (call & BPF_LOOKUP_MAPS && (int)BPF_CORE_READ(regs, r8) == -1)
		return;
	if (call & BPF_LOOKUP_WAITS && result == 0) {
		if (argument && (argument == 1 ? BPF_CORE_READ(regs, di) : BPF_CORE_READ(regs, si)) == 0)
			return;
		if (argument == 2 && polls_eventfd(me, regs))
			return;
		key.folder = BPF_LOOKUP_WAITED;
	} else if (call & BPF_LOOKUP_WAITS && result > 0) {
		key.folder = BPF_LOOKUP_ASKED; /* what came is told by the call that takes it */
		key.tid = 0;
	}
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
	__u16 call = nr < BPF_LOOKUP_CALLS ? path_argument[nr] : 0, argument = call & BPF_LOOKUP_ARGUMENT;
	taken_count(me, regs, call, result);
	if (me->pid == me->tgid)
		call_count(me, regs, call);
	if (call & BPF_LOOKUP_SLEEPS)
		return 0;
	if (result == TRY_AGAIN) {
		if (call & BPF_LOOKUP_LOCKS)
			lock_count(me, regs, call);
		return 0;
	}
	const __u32 found = result == 0 && call & BPF_LOOKUP_ASKS ? 1 : result == IS_THERE && call & MAKING ? 2 : 0;
	if (argument == 0 || (!found && (result != NO_SUCH_FILE || call & BPF_LOOKUP_MAKES)))
		return 0;
	struct bpf_lookup_key key = {.tgid = tgid, .tid = me->pid, .folder = BPF_LOOKUP_CWD, .found = found};
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
