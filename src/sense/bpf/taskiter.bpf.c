/*
 * Part of start.bpf.c. Lists all processes in a few reads: one record (records.h) for each process that has memory.
 * sense/proc/tasks.c reads them.
 *
 * Pointers are followed by helper: for each one that is followed directly the verifier of newer kernels looks through
 * all of the kernel's types by name, which takes 1 ms of the start.
 */
#include "kernel_types.bpf.h"
#include "pidns.bpf.h"
#include "records.h"

/* By helper, not by direct loads: the verifier of 6.1 does not follow atomic_long_t through its typedef. */
static __always_inline void counters_take(struct bpf_task_record *r, struct mm_struct *mm)
{
	struct mm_struct___single *single = (void *)mm;
	struct mm_struct___percpu *percpu = (void *)mm;
	if (bpf_core_field_exists(single->rss_stat.count)) {
		r->file_pages = BPF_CORE_READ(single, rss_stat.count[MM_FILEPAGES].counter);
		r->anon_pages = BPF_CORE_READ(single, rss_stat.count[MM_ANONPAGES].counter);
		r->swap_pages = BPF_CORE_READ(single, rss_stat.count[MM_SWAPENTS].counter);
		r->shmem_pages = BPF_CORE_READ(single, rss_stat.count[MM_SHMEMPAGES].counter);
	} else {
		r->file_pages = BPF_CORE_READ(percpu, rss_stat[MM_FILEPAGES].count);
		r->anon_pages = BPF_CORE_READ(percpu, rss_stat[MM_ANONPAGES].count);
		r->swap_pages = BPF_CORE_READ(percpu, rss_stat[MM_SWAPENTS].count);
		r->shmem_pages = BPF_CORE_READ(percpu, rss_stat[MM_SHMEMPAGES].count);
	}
}

/* /proc lists the timers of timer_create(2) alone. */
static __always_inline short alarm_of(struct task_struct *t)
{
	struct signal_struct *shape = NULL;
	struct hrtimer *timer = NULL;
	if (!bpf_core_field_exists(shape->real_timer) || !bpf_core_field_exists(timer->state))
		return -1;
	return BPF_CORE_READ(t, signal, real_timer.state) != 0;
}

/* The iterator walks the reader's pid namespace, and gives numbers in it. */
static __always_inline void numbers_take(struct bpf_task_record *r, struct task_struct *t, struct task_struct *leader)
{
	struct task_struct *reader = (void *)bpf_get_current_task();
	struct pid *own = BPF_CORE_READ(reader, thread_pid);
	unsigned int level = BPF_CORE_READ(own, level);
	if (level == 0) {
		r->pid = t->tgid;
		r->ppid = BPF_CORE_READ(t, real_parent, tgid);
		return;
	}
	if (level > PIDNS_MAX_LEVEL)
		return;
	struct upid *u = pidns_upid(own, level);
	struct pid_namespace *ns = BPF_CORE_READ(u, ns);
	r->pid = pidns_number(BPF_CORE_READ(leader, thread_pid), level, ns);
	r->ppid = pidns_number(BPF_CORE_READ(t, real_parent, group_leader, thread_pid), level, ns);
}

/*
 * A process is represented by its main thread, or by the next one if that has ended: the others go on, and have the
 * memory.
 */
static __always_inline int is_the_one(struct task_struct *t)
{
	if (t->pid == t->tgid)
		return 1;
	struct task_struct *leader = BPF_CORE_READ(t, group_leader);
	void *node = (void *)t + bpf_core_field_offset(struct task_struct, thread_node);
	return !BPF_CORE_READ(leader, mm) && (void *)BPF_CORE_READ(leader, thread_node.next) == node;
}

SEC("iter/task")
int taskiter(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	if (!t || t->flags & PF_KTHREAD || !is_the_one(t))
		return 0;
	struct mm_struct *mm = BPF_CORE_READ(t, mm);
	if (!mm)
		return 0;
	struct task_struct *leader = BPF_CORE_READ(t, group_leader);
	struct bpf_task_record r = {
		.start_boot_ns = BPF_CORE_READ(leader, start_boottime),
		.utime_ns = t->utime,
		.stime_ns = t->stime,
		.oom_score_adj = BPF_CORE_READ(t, signal, oom_score_adj),
		.alarm_set = alarm_of(t),
	};
	numbers_take(&r, t, leader);
	counters_take(&r, mm);
	BPF_CORE_READ_STR_INTO(&r.comm, leader, comm);
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}
