/*
 * Records the senders of signals that end processes: each such signal puts one record (records.h) into a ring buffer.
 * sense/death/sigwatch.c reads it.
 */
#include "kernel_types.bpf.h"
#include "pidns.bpf.h"
#include "records.h"

char LICENSE[] SEC("license") = "GPL";

/* Room for about 600 unread signals. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} ring SEC(".maps");

/* Number of signals that did not fit; the next record carries it. */
static unsigned int lost;

/* The descendants of the process with this number in its own namespace are watched; 0: all processes. */
const volatile int below = 0;

/* Maximum depth of a job's process tree; orphans become children of the supervisor. */
#define DEPTH_MAX 32

static __always_inline int is_below(struct task_struct *t)
{
	for (int i = 0; i < DEPTH_MAX && t; i++) {
		struct task_struct *parent = BPF_CORE_READ(t, real_parent);
		if (parent == t)
			return 0;
		t = parent;
		/* The same number in another namespace is harmless: it adds one record. */
		if (t && pidns_innermost(BPF_CORE_READ(t, group_leader, thread_pid)) == below)
			return 1;
	}
	return 0;
}

/* HUP INT QUIT ILL ABRT BUS FPE KILL SEGV TERM XCPU: the signals that end a job. Job control is left out. */
#define WATCHED (1U << 1 | 1U << 2 | 1U << 3 | 1U << 4 | 1U << 6 | 1U << 7 | 1U << 8 | 1U << 9 | 1U << 11 | 1U << 15 | \
		 1U << 24)

/* include/trace/events/signal.h: the target ignores this signal. */
#define TRACE_SIGNAL_IGNORED 1

#define SI_USER 0
#define SI_KERNEL 0x80

/* include/linux/sched/signal.h: values in place of a siginfo, "a user" (0) and "the kernel" (1). */
static __always_inline int code_of(const struct kernel_siginfo *info)
{
	if ((unsigned long)info == 0)
		return SI_USER;
	if ((unsigned long)info == 1)
		return SI_KERNEL;
	return BPF_CORE_READ(info, si_code);
}

/* arguments: sig, info, task, group, result */
SEC("tp_btf/signal_generate")
int sigwatch(__u64 *args)
{
	int sig = (int)args[0];
	if (sig < 1 || sig > 31 || !(WATCHED >> sig & 1) || (int)args[4] == TRACE_SIGNAL_IGNORED)
		return 0;
	struct task_struct *target = (void *)args[2];
	struct task_struct *sender = (void *)bpf_get_current_task();
	struct task_struct *leader = BPF_CORE_READ(target, group_leader);
	if (below && !is_below(leader))
		return 0;
	struct bpf_signal_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	r->boot_ns = bpf_ktime_get_boot_ns();
	r->target_start_boot_ns = BPF_CORE_READ(leader, start_boottime);
	r->signal = sig;
	r->code = code_of((void *)args[1]);
	r->target = BPF_CORE_READ(target, tgid);
	r->target_inner = pidns_innermost(BPF_CORE_READ(leader, thread_pid));
	r->sender = (int)(bpf_get_current_pid_tgid() >> 32);
	r->sender_inner = pidns_innermost(BPF_CORE_READ(sender, group_leader, thread_pid));
	r->sender_uid = (unsigned)bpf_get_current_uid_gid();
	r->from_kernel = r->code > 0;
	r->lost = lost;
	r->pad = 0;
	bpf_get_current_comm(r->sender_comm, sizeof(r->sender_comm));
	bpf_ringbuf_submit(r, 0);
	return 0;
}
