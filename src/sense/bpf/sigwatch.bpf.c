/*
 * Records the senders of signals that end processes, and how processes end: each puts one record (records.h) into a
 * ring buffer.
 * sense/death/sigwatch.c reads it.
 */
#include "kernel_types.bpf.h"
#include "pidns.bpf.h"
#include "records.h"

char LICENSE[] SEC("license") = "GPL";

/* Room for about 2,000 unread signals or 1,000 ends. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} ring SEC(".maps");

/* Number of records that did not fit; the next record carries it. */
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

#define BIT(sig) (1ULL << (sig))
/* HUP INT QUIT ILL ABRT BUS FPE KILL SEGV TERM: the signals that end a job, also where the job handles them. */
#define ALWAYS (BIT(1) | BIT(2) | BIT(3) | BIT(4) | BIT(6) | BIT(7) | BIT(8) | BIT(9) | BIT(11) | BIT(15))
/* CHLD CONT STOP TSTP TTIN TTOU URG WINCH: they end nothing. */
#define NEVER (BIT(17) | BIT(18) | BIT(19) | BIT(20) | BIT(21) | BIT(22) | BIT(23) | BIT(28))

/*
 * All others end a process that has no handler for them. With one they may come a thousand times in a second, as
 * timers do.
 */
static __always_inline int ends(struct task_struct *t, int sig)
{
	if (sig < 1 || sig > 64 || (sig < 64 && NEVER >> sig & 1))
		return 0;
	if (sig < 64 && ALWAYS >> sig & 1)
		return 1;
	struct sighand_struct *h = BPF_CORE_READ(t, sighand);
	return h && BPF_CORE_READ(h, action[sig - 1].sa.sa_handler) == NULL;
}

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

/* The kernel raises the signal of a fault in the thread that made it. */
static __always_inline void fault_of(const struct kernel_siginfo *info, struct bpf_signal_record *r)
{
	r->fault_addr = r->user_sp = 0;
	if (!r->from_kernel || (r->signal != 11 && r->signal != 7) || (unsigned long)info <= 1)
		return;
	r->fault_addr = (unsigned long)BPF_CORE_READ(info, _sifields._sigfault._addr);
	if (!bpf_core_enum_value_exists(enum bpf_func_id___newer, BPF_FUNC_task_pt_regs___newer))
		return; /* kernels before 5.15 */
	struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	r->user_sp = BPF_CORE_READ(regs, sp);
}

/* arguments: sig, info, task, group, result */
SEC("tp_btf/signal_generate")
int sigwatch(__u64 *args)
{
	int sig = (int)args[0];
	struct task_struct *target = (void *)args[2];
	if ((int)args[4] == TRACE_SIGNAL_IGNORED || !ends(target, sig))
		return 0;
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
	fault_of((void *)args[1], r);
	bpf_get_current_comm(r->sender_comm, sizeof(r->sender_comm));
	bpf_ringbuf_submit(r, 0);
	return 0;
}

/* A process that ends well within this time is not recorded: scripts start thousands. */
#define SHORT_NS 500000000ULL

static __always_inline int status_of(struct task_struct *t)
{
	int code = BPF_CORE_READ(t, signal, group_exit_code);
	return code ? code : BPF_CORE_READ(t, exit_code);
}

/* argument: task. Called for each thread; the last one ends the process. */
SEC("tp_btf/sched_process_exit")
int endwatch(__u64 *args)
{
	struct task_struct *task = (void *)args[0];
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	if (!below || BPF_CORE_READ(task, signal, live.counter) != 0)
		return 0;
	__u64 now = bpf_ktime_get_boot_ns(), start = BPF_CORE_READ(leader, start_boottime);
	int status = status_of(task);
	if ((status == 0 && now - start < SHORT_NS) || !is_below(leader))
		return 0;
	struct bpf_end_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	r->boot_ns = now;
	r->start_boot_ns = start;
	r->cpu_ns = BPF_CORE_READ(task, signal, sum_sched_runtime) + BPF_CORE_READ(task, se.sum_exec_runtime);
	r->max_rss_pages = BPF_CORE_READ(task, signal, maxrss);
	r->pid = BPF_CORE_READ(leader, tgid);
	r->pid_inner = pidns_innermost(BPF_CORE_READ(leader, thread_pid));
	r->parent = BPF_CORE_READ(leader, real_parent, tgid);
	r->parent_inner = pidns_innermost(BPF_CORE_READ(leader, real_parent, group_leader, thread_pid));
	r->wait_status = status;
	r->lost = lost;
	struct signal_struct *signal = BPF_CORE_READ(task, signal);
	for (int i = 0; i < BPF_LIMITS; i++) {
		r->limit[i][0] = BPF_CORE_READ(signal, rlim[i].rlim_cur);
		r->limit[i][1] = BPF_CORE_READ(signal, rlim[i].rlim_max);
	}
	BPF_CORE_READ_STR_INTO(&r->comm, leader, comm);
	bpf_ringbuf_submit(r, 0);
	return 0;
}
