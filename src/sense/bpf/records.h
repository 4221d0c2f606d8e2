/*
 * What the kernel programs of this directory hand to vigil, byte for byte.
 * Included by both sides, so plain integers of fixed size and no padding that
 * the compiler would choose. Written and read on the same machine.
 */
#pragma once

#define BPF_COMM_MAX 16

/* One process from the task iterator. Counters are the kernel's and may be below zero for an instant. */
struct bpf_task_record {
	unsigned long long start_boot_ns;
	unsigned long long utime_ns, stime_ns; /* of the leading thread */
	long long file_pages, anon_pages, swap_pages, shmem_pages;
	int pid, ppid; /* as the reader's pid namespace numbers them; ppid 0: outside of it */
	short oom_score_adj;
	short pad[3];
	char comm[BPF_COMM_MAX];
};

/* One signal being sent. */
struct bpf_signal_record {
	unsigned long long boot_ns; /* CLOCK_BOOTTIME of the sending */
	unsigned long long target_start_boot_ns;
	int signal, code; /* code: si_code */
	int target, target_inner; /* process, in the first and in its innermost pid namespace */
	int sender, sender_inner;
	unsigned sender_uid; /* and what follows of the sender: whoever was running, if the kernel sent it */
	unsigned from_kernel;
	unsigned lost; /* signals so far that found the ring full */
	unsigned pad;
	char sender_comm[BPF_COMM_MAX];
};
