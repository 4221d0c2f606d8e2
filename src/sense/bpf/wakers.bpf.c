/*
 * Counts who ends the waits of the threads of watched processes: which thread, out of which system call. Attached for a
 * short time now and then; sense/wait/wakers.c reads the counts.
 *
 * The tracepoint alone misleads: a wake that a timer or a packet brings is ascribed to whoever was interrupted. So a
 * waker counts only if it stands in a system call of its own that can end such a wait. Interrupted user code has no
 * call; an interrupt that hits another call remains, spread over all threads.
 */
#include "kernel_types.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "records.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_WAKER_PAIRS);
	__type(key, struct bpf_waker_key);
	__type(value, struct bpf_waker_count);
} pairs SEC(".maps");

/* Processes that are watched, and the number of the job of each. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BPF_WAKER_PROCESSES);
	__type(key, __u32);
	__type(value, __u32);
} watched SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BPF_WAKER_ASKED);
	__type(key, __u32);
	__type(value, struct bpf_waker_asked);
} asked SEC(".maps");

/* By number of the call: kinds of waits that are made in it, and that are ended in it. */
const volatile __u16 waits[BPF_WAKER_CALLS], ends[BPF_WAKER_CALLS];

static __always_inline int call_of(struct task_struct *t)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(t);
	return (int)BPF_CORE_READ(regs, orig_ax);
}

static __always_inline int fits(int nr, int by)
{
	if (nr < 0 || nr >= BPF_WAKER_CALLS || by < 0 || by >= BPF_WAKER_CALLS)
		return 0;
	return waits[nr & (BPF_WAKER_CALLS - 1)] & ends[by & (BPF_WAKER_CALLS - 1)];
}

static __always_inline void thread_take(struct bpf_waker_thread *to, struct task_struct *t)
{
	to->start_boot_ns = t->start_boottime;
	to->process_start_boot_ns = BPF_CORE_READ(t, group_leader, start_boottime);
	to->tgid = t->tgid;
	to->pad = 0;
	BPF_CORE_READ_STR_INTO(&to->comm, t, comm);
}

/* True if the thread is of the same job. */
static __always_inline int is_of(struct task_struct *t, __u32 tgid, __u32 job)
{
	__u32 own = t->tgid;
	if (own == tgid)
		return 1;
	__u32 *other = bpf_map_lookup_elem(&watched, &own);
	return other && *other == job;
}

static __always_inline void answer(struct task_struct *wakee, struct task_struct *me, const struct bpf_waker_key *key)
{
	struct bpf_waker_asked *a = bpf_map_lookup_elem(&asked, &key->wakee);
	if (!a || a->answered || a->arg != key->arg || a->turns != wakee->sched_info.pcount)
		return;
	a->waker = key->waker;
	if (key->waker)
		thread_take(&a->by, me);
	a->answered = 1;
}

/* argument: the thread that is woken */
SEC("tp_btf/sched_waking")
int wakers(__u64 *args)
{
	struct task_struct *wakee = (void *)args[0];
	__u32 tgid = wakee->tgid;
	__u32 *job = bpf_map_lookup_elem(&watched, &tgid);
	if (!job)
		return 0;
	struct task_struct *me = bpf_get_current_task_btf();
	struct bpf_waker_key key = {.wakee = wakee->pid, .nr = call_of(wakee), .by = call_of(me)};
	if (me->flags & PF_KTHREAD || me->pid == wakee->pid || !fits(key.nr, key.by))
		return 0;
	key.waker = is_of(me, tgid, *job) ? me->pid : 0;
	struct pt_regs *regs = (void *)bpf_task_pt_regs(wakee);
	key.arg = BPF_CORE_READ(regs, di);
	answer(wakee, me, &key);
	struct bpf_waker_count *known = bpf_map_lookup_elem(&pairs, &key);
	if (known) {
		__sync_fetch_and_add(&known->n, 1);
		return 0;
	}
	struct bpf_waker_count first = {.n = 1};
	thread_take(&first.wakee, wakee);
	if (key.waker)
		thread_take(&first.waker, me);
	bpf_map_update_elem(&pairs, &key, &first, BPF_ANY);
	return 0;
}
