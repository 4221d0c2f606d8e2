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

/*
 * One instant of a thread: what is asked for and what there was, in memory that both sides map. The stack is that from the
 * thread's stack pointer on (less the red zone) to where it ends, or as far as it is mapped.
 */
#define BPF_INSTANT_CHUNKS 256
#define BPF_INSTANT_PAGE 4096 /* copied at a time: what is not there costs no more */
#define BPF_INSTANT_STACK 65536
#define BPF_INSTANT_BYTES 131072
#define BPF_INSTANT_WORDS 21 /* struct pt_regs of x86_64 */

struct bpf_instant_chunk {
	unsigned long long addr;
	unsigned int bytes, pad;
};

struct bpf_instant {
	/* asked */
	int pid, tid; /* as the pid namespace below shows them */
	unsigned int n_chunks, pad_asked;
	unsigned long long ns_dev, ns_ino; /* 0: the first one */
	unsigned int sp_word, red_zone;
	unsigned long long stack_lo, stack_end; /* where its stack is believed to be; it counts only if it is there */
	struct bpf_instant_chunk chunk[BPF_INSTANT_CHUNKS];
	/* answered */
	unsigned int taken; /* 0: the thread was not on this processor, and nothing else is filled */
	unsigned int at_chunk, at_byte; /* how far it got: n_chunks, 0 unless the begin of a piece was not there */
	unsigned int n_bytes, n_stack;
	unsigned int pad;
	unsigned long long begin_ns, end_ns;
	unsigned long long word[BPF_INSTANT_WORDS];
	unsigned long long stack_from;
	unsigned char stack[BPF_INSTANT_STACK + BPF_INSTANT_PAGE];
	unsigned char bytes[BPF_INSTANT_BYTES + BPF_INSTANT_PAGE]; /* of the pieces, one behind the other */
};
