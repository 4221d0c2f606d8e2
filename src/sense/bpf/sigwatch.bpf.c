/*
 * Records the senders of signals that end processes, and how processes end: each puts one record (records.h) into a
 * ring buffer.
 * sense/death/sigwatch.c reads it. Part of start.bpf.c.
 */
#include "kernel_types.bpf.h"
#include "pidns.bpf.h"
#include "records.h"

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

struct climb {
	struct task_struct *t;
	int found;
};

/* One generation. 1: the end. */
static long climb_one(unsigned turn, struct climb *c)
{
	struct task_struct *t = c->t; /* the macro would take the field of ours for one of the kernel's */
	struct task_struct *parent = BPF_CORE_READ(t, real_parent);
	if (!parent || parent == t)
		return 1;
	c->t = parent;
	c->found = pidns_innermost(BPF_CORE_READ(parent, group_leader, thread_pid)) == below;
	return c->found;
}

/*
 * loops: the kernel has bpf_loop(), whose callback is verified once; to verify the turns of a loop takes 20 ms of the
 * start.
 */
static __always_inline int is_below(struct task_struct *t, int loops)
{
	if (loops) {
		struct climb c = {.t = t};
		if (t)
			bpf_loop(DEPTH_MAX, climb_one, &c, 0);
		return c.found;
	}
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

/* USR1 USR2: what schedulers announce an end by. */
#define NOTICES (BIT(10) | BIT(12))

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

/* include/uapi/asm-generic/siginfo.h: by kill(2), sigqueue(3), tgkill(2); anything else is the kernel's own doing. */
#define SI_USER 0
#define SI_KERNEL 0x80
#define SI_QUEUE (-1)
#define SI_TKILL (-6)

static __always_inline int by_process(int code)
{
	return code == SI_USER || code == SI_QUEUE || code == SI_TKILL;
}

/* include/linux/sched/signal.h: values in place of a siginfo, "a user" (0) and "the kernel" (1). */
static __always_inline int code_of(const struct kernel_siginfo *info)
{
	if ((unsigned long)info == 0)
		return SI_USER;
	if ((unsigned long)info == 1)
		return SI_KERNEL;
	return BPF_CORE_READ(info, si_code);
}

/*
 * One that the process handles. From the job's own processes they may come a thousand times in a second, so only those
 * from outside are recorded.
 */
static __always_inline int may_be_notice(int sig, int code)
{
	return below && sig > 0 && sig < 64 && (NOTICES >> sig & 1) && by_process(code);
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
static __always_inline int signal_record(__u64 *args, int loops)
{
	int sig = (int)args[0], code = code_of((void *)args[1]);
	struct task_struct *target = (void *)args[2];
	if ((int)args[4] == TRACE_SIGNAL_IGNORED)
		return 0;
	struct task_struct *sender = (void *)bpf_get_current_task();
	struct task_struct *leader = BPF_CORE_READ(target, group_leader);
	const int ending = ends(target, sig);
	if (!ending && !may_be_notice(sig, code))
		return 0;
	if (below && !is_below(leader, loops))
		return 0;
	if (!ending && is_below(BPF_CORE_READ(sender, group_leader), loops))
		return 0;
	struct bpf_signal_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	r->boot_ns = bpf_ktime_get_boot_ns();
	r->target_start_boot_ns = BPF_CORE_READ(leader, start_boottime);
	r->signal = sig;
	r->code = code;
	r->target = BPF_CORE_READ(target, tgid);
	r->target_inner = pidns_innermost(BPF_CORE_READ(leader, thread_pid));
	r->sender = (int)(bpf_get_current_pid_tgid() >> 32);
	r->sender_inner = pidns_innermost(BPF_CORE_READ(sender, group_leader, thread_pid));
	r->sender_uid = (unsigned)bpf_get_current_uid_gid();
	r->from_kernel = !by_process(code);
	r->lost = lost;
	r->pad = 0;
	fault_of((void *)args[1], r);
	bpf_get_current_comm(r->sender_comm, sizeof(r->sender_comm));
	bpf_ringbuf_submit(r, 0);
	return 0;
}

SEC("tp_btf/signal_generate")
int sigwatch(__u64 *args)
{
	return signal_record(args, 0);
}

SEC("tp_btf/signal_generate")
int sigwatch_loop(__u64 *args)
{
	return signal_record(args, 1);
}

/* The variables that number ranks, and the command, of processes as they were at their last exec. */
struct environment {
	struct bpf_rank_words ranks;
	unsigned kept, middle; /* words so far; middle: the next piece is of a longer variable */
	struct bpf_command command;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, int);
	__type(value, struct environment);
} environments SEC(".maps");

static const struct environment nothing;

#define WORD5(a, b, c, d, e) ((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32)
#define WORD8(a, b, c, d, e, f, g, h) (WORD5(a, b, c, d, e) | (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)

/* The first letters of the variables that model/jobs/role reads. */
static __always_inline int numbers_ranks(__u64 begin)
{
	return (begin & 0xffffffffffULL) == WORD5('R', 'A', 'N', 'K', '=') ||
	       begin == WORD8('L', 'O', 'C', 'A', 'L', '_', 'R', 'A') ||
	       begin == WORD8('N', 'O', 'D', 'E', '_', 'R', 'A', 'N') ||
	       begin == WORD8('W', 'O', 'R', 'L', 'D', '_', 'S', 'I') ||
	       begin == WORD8('O', 'M', 'P', 'I', '_', 'C', 'O', 'M') ||
	       begin == WORD8('P', 'M', 'I', 'X', '_', 'R', 'A', 'N') ||
	       begin == WORD8('P', 'M', 'I', '_', 'R', 'A', 'N', 'K') ||
	       begin == WORD8('M', 'V', '2', '_', 'C', 'O', 'M', 'M') ||
	       begin == WORD8('H', 'O', 'R', 'O', 'V', 'O', 'D', '_') ||
	       begin == WORD8('S', 'L', 'U', 'R', 'M', '_', 'P', 'R');
}

/* Pieces of an environment that are read: with 64 bytes each at least 32 KiB of long variables. */
#define PIECES_MAX 512

struct env_read {
	struct environment *e;
	unsigned long at, end;
};

/* One piece. 1: the end. A callback is verified once, where a loop of so many turns takes 0.2 s of the start. */
static long piece_read(unsigned turn, struct env_read *read)
{
	union {
		char text[64];
		__u64 begin;
	} piece = {.begin = 0};
	struct environment *e = read->e;
	if (read->at >= read->end || !e)
		return 1;
	long n = bpf_probe_read_user_str(piece.text, sizeof(piece.text), (void *)read->at);
	unsigned k = e->kept;
	if (n <= 0)
		return 1;
	if (!e->middle && k < BPF_RANK_WORDS && numbers_ranks(piece.begin)) {
		bpf_probe_read_user_str(e->ranks.word[k], BPF_RANK_WORD, (void *)read->at);
		e->kept = k + 1;
	}
	/* A full piece lacks the end of its variable, and its own last byte is no byte of it. */
	e->middle = n == sizeof(piece.text);
	read->at += e->middle ? n - 1 : n;
	return 0;
}

/* Reads the environment of the process that runs now. */
static __always_inline void environment_read(struct task_struct *task, int pid)
{
	bpf_map_update_elem(&environments, &pid, &nothing, BPF_ANY);
	struct env_read read = {
		.e = bpf_map_lookup_elem(&environments, &pid),
		.at = BPF_CORE_READ(task, mm, env_start),
		.end = BPF_CORE_READ(task, mm, env_end),
	};
	if (!read.e)
		return;
	const unsigned long arg = BPF_CORE_READ(task, mm, arg_start), end = BPF_CORE_READ(task, mm, arg_end);
	const unsigned long len = end - arg;
	read.e->command.len = len < BPF_COMMAND ? len : BPF_COMMAND;
	/* The size is tested once more in a form that the verifier follows. */
	if (read.e->command.len > 0 && read.e->command.len <= BPF_COMMAND &&
	    bpf_probe_read_user(read.e->command.text, read.e->command.len, (void *)arg) < 0)
		read.e->command.len = 0;
	bpf_loop(PIECES_MAX, piece_read, &read, 0);
}

/* arguments: task, the thread's number before, the program. The pages of the environment are new and present. */
SEC("tp_btf/sched_process_exec")
int envwatch(__u64 *args)
{
	struct task_struct *task = (void *)args[0];
	if (below && is_below(BPF_CORE_READ(task, group_leader), 1))
		environment_read(task, BPF_CORE_READ(task, tgid));
	return 0;
}

/* Its own environment, or that of the process that it was forked from. */
static __always_inline void ranks_of(struct task_struct *leader, struct bpf_rank_words *to)
{
	for (int up = 0; up < 4 && leader; up++) {
		int pid = BPF_CORE_READ(leader, tgid);
		struct environment *e = bpf_map_lookup_elem(&environments, &pid);
		if (e) {
			__builtin_memcpy(to, &e->ranks, sizeof(*to));
			return;
		}
		leader = BPF_CORE_READ(leader, real_parent, group_leader);
	}
	__builtin_memset(to, 0, sizeof(*to));
}

/* A process that ends well within this time is not recorded: scripts start thousands. */
#define SHORT_NS 500000000ULL

/* Programs of whose children some have failed: a row for each program that a process has started and that did. */
struct program {
	int parent;
	char comm[BPF_COMM_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct program);
	__type(value, unsigned); /* so many ended well in a short time since the last one that failed */
} failing SEC(".maps");

static __always_inline void program_of(struct task_struct *leader, struct program *ret)
{
	ret->parent = BPF_CORE_READ(leader, real_parent, tgid);
	BPF_CORE_READ_STR_INTO(&ret->comm, leader, comm);
}

/* Not recorded, but it tells that the program does not fail each time. */
static __always_inline void ended_well(struct task_struct *leader)
{
	struct program key = {.parent = 0};
	program_of(leader, &key);
	unsigned *well = bpf_map_lookup_elem(&failing, &key);
	if (well)
		__sync_fetch_and_add(well, 1);
}

/* Returns how many ended well in a short time since the last one that failed. */
static __always_inline unsigned ended_badly(struct task_struct *leader)
{
	struct program key = {.parent = 0};
	unsigned none = 0, n = 0;
	program_of(leader, &key);
	unsigned *well = bpf_map_lookup_elem(&failing, &key);
	if (well) {
		n = *well;
		*well = 0;
	} else {
		bpf_map_update_elem(&failing, &key, &none, BPF_ANY);
	}
	return n;
}

/* include/linux/sched.h: it was forked, and has executed no program since. */
#define PF_FORKNOEXEC 0x40

static __always_inline void command_of(struct task_struct *leader, int pid, struct bpf_end_record *r)
{
	r->forked = (BPF_CORE_READ(leader, flags) & PF_FORKNOEXEC) != 0;
	struct environment *e = r->forked ? NULL : bpf_map_lookup_elem(&environments, &pid);
	if (e)
		__builtin_memcpy(&r->command, &e->command, sizeof(r->command));
	else
		__builtin_memset(&r->command, 0, sizeof(r->command));
}

static __always_inline int status_of(struct task_struct *t)
{
	int code = BPF_CORE_READ(t, signal, group_exit_code);
	return code ? code : BPF_CORE_READ(t, exit_code);
}

/* Called for each thread; the last one ends the process. */
static __always_inline int end_record(struct task_struct *task, int environment)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	if (!below || BPF_CORE_READ(task, signal, live.counter) != 0)
		return 0;
	__u64 now = bpf_ktime_get_boot_ns(), start = BPF_CORE_READ(leader, start_boottime);
	int status = status_of(task);
	if (status == 0 && now - start < SHORT_NS) {
		ended_well(leader);
		return 0;
	}
	if (!is_below(leader, environment))
		return 0;
	int pid = BPF_CORE_READ(leader, tgid);
	/* It executed its program before this was watched, or was forked. Since Linux 6.16 it still has its memory. */
	if (environment && BPF_CORE_READ(task, mm) && !bpf_map_lookup_elem(&environments, &pid))
		environment_read(task, pid);
	struct bpf_end_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	r->boot_ns = now;
	r->start_boot_ns = start;
	r->cpu_ns = BPF_CORE_READ(task, signal, sum_sched_runtime) + BPF_CORE_READ(task, se.sum_exec_runtime);
	r->max_rss_pages = BPF_CORE_READ(task, signal, maxrss);
	r->pid = pid;
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
	ranks_of(leader, &r->ranks);
	r->well_before = status ? ended_badly(leader) : 0;
	command_of(leader, pid, r);
	bpf_ringbuf_submit(r, 0);
	return 0;
}

/* argument: task */
SEC("tp_btf/sched_process_exit")
int endwatch(__u64 *args)
{
	return end_record((void *)args[0], 0);
}

/* The same with the variables of the environment, for kernels that have bpf_loop(). */
SEC("tp_btf/sched_process_exit")
int endwatch_environment(__u64 *args)
{
	return end_record((void *)args[0], 1);
}
