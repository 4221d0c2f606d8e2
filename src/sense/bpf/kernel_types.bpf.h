/*
 * The parts of the kernel's structures that our programs read. Members are found by name when a program is loaded
 * (CO-RE), so their order here and omitted members do not matter; nothing has to be generated from the kernel of the
 * build machine. A name with three underscores stands for the structure named before them, in one of several shapes.
 */
#pragma once

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

#define NULL ((void *)0)
#define PF_KTHREAD 0x00200000

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27
};
enum { BPF_ANY };
enum { BPF_F_MMAPABLE = 1 << 10 };

struct bpf_pidns_info {
	__u32 pid, tgid;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1]; /* level + 1 of them */
};

struct atomic_int {
	int counter;
};

struct rlimit {
	unsigned long rlim_cur, rlim_max;
};

struct hrtimer {
	__u8 state; /* 0: not set */
};

struct signal_struct {
	short oom_score_adj;
	struct hrtimer real_timer; /* of alarm(2) and setitimer(2) */
	struct atomic_int live; /* threads that have not ended */
	int group_exit_code;
	__u64 sum_sched_runtime; /* of threads that have ended */
	unsigned long maxrss; /* pages */
	struct rlimit rlim[16];
};

struct sigaction {
	void *sa_handler;
	unsigned long sa_flags;
	void *sa_restorer;
	unsigned long sa_mask;
};

struct k_sigaction {
	struct sigaction sa;
};

struct sighand_struct {
	struct k_sigaction action[64];
};

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct sched_info {
	unsigned long pcount; /* turns on a processor */
};

struct list_head {
	struct list_head *next, *prev;
};

struct mm_struct {
	unsigned long arg_start, arg_end, env_start, env_end;
};

struct task_struct {
	int pid, tgid;
	unsigned int flags;
	char comm[16];
	__u64 utime, stime;
	__u64 start_boottime;
	struct task_struct *real_parent, *group_leader;
	struct mm_struct *mm;
	struct pid *thread_pid;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	struct files_struct *files;
	struct sched_entity se;
	struct sched_info sched_info;
	int exit_code;
	struct list_head thread_node;
};

struct fault_info {
	void *_addr;
};

union __sifields {
	struct fault_info _sigfault;
};

struct kernel_siginfo {
	int si_code;
	union __sifields _sifields;
};

struct pt_regs {
	unsigned long sp, di, si, r8, orig_ax;
};

struct in6_words {
	__u8 u6_addr8[16];
};

struct in6_addr {
	struct in6_words in6_u;
};

struct sock_common {
	__be32 skc_daddr;
	__be16 skc_dport;
	__u16 skc_num;
	__u16 skc_family;
	__be32 skc_rcv_saddr;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	int sk_err;
	__u16 sk_type, sk_protocol;
};

enum bpf_func_id___newer { BPF_FUNC_task_pt_regs___newer = 175 };

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

/* Memory counters before Linux 6.2: a structure of atomics. */
struct atomic_long___single {
	long long counter;
};

struct mm_rss_stat___single {
	struct atomic_long___single count[4];
};

struct mm_struct___single {
	struct mm_rss_stat___single rss_stat;
};

/* From 6.2 on: counters with a part on each processor; `count` is their common part. */
struct percpu_counter {
	__s64 count;
};

struct mm_struct___percpu {
	struct percpu_counter rss_stat[4];
};

#pragma clang attribute pop

/* Order of the counters, in both shapes. */
enum { MM_FILEPAGES, MM_ANONPAGES, MM_SWAPENTS, MM_SHMEMPAGES };
