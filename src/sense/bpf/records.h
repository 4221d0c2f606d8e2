/*
 * The records that the kernel programs of this directory pass to vigil, byte for byte. Included by both sides, so plain
 * integers of fixed size, without padding chosen by the compiler. Written and read on the same machine.
 */
#pragma once

#define BPF_COMM_MAX 16

/* One process from the task iterator. The counters are the kernel's and may be negative for an instant. */
struct bpf_task_record {
	unsigned long long start_boot_ns;
	unsigned long long utime_ns, stime_ns; /* of the leading thread */
	long long file_pages, anon_pages, swap_pages, shmem_pages;
	int pid, ppid; /* in the reader's pid namespace; ppid 0: outside of it */
	short oom_score_adj;
	short alarm_set; /* its alarm (ITIMER_REAL) will go off; -1: this kernel does not tell */
	short pad[2];
	char comm[BPF_COMM_MAX];
};

/* One signal being sent. */
struct bpf_signal_record {
	unsigned long long boot_ns; /* CLOCK_BOOTTIME of the sending */
	unsigned long long target_start_boot_ns;
	int signal, code; /* code: si_code */
	int target, target_inner; /* process, in the initial and in its innermost pid namespace */
	/* The sender; if the kernel sent the signal, the process that was running. */
	int sender, sender_inner;
	unsigned sender_uid;
	unsigned from_kernel;
	unsigned lost; /* signals so far that found the ring full */
	unsigned pad;
	char sender_comm[BPF_COMM_MAX];
	/* a fault: the address that was touched, and the stack pointer then; 0: unknown */
	unsigned long long fault_addr, user_sp;
};

#define BPF_LIMITS 10 /* RLIMIT_CPU to RLIMIT_AS */

/* The variables of an environment that number ranks, each cut to its size, NUL-terminated; unused ones are empty. */
#define BPF_RANK_WORDS 10
#define BPF_RANK_WORD 32
struct bpf_rank_words {
	char word[BPF_RANK_WORDS][BPF_RANK_WORD];
};

/* The beginning of a command, its words NUL-terminated but for what was cut. */
#define BPF_COMMAND 128
struct bpf_command {
	unsigned len, pad; /* len 0: unknown */
	char text[BPF_COMMAND];
};

/* The end of a process. In the same ring as signals; told apart by its length. */
struct bpf_end_record {
	unsigned long long boot_ns, start_boot_ns;
	unsigned long long cpu_ns;
	unsigned long long max_rss_pages;
	int pid, pid_inner; /* as of signals */
	int parent, parent_inner;
	int wait_status; /* as wait(2) gives it */
	unsigned lost;
	unsigned long long limit[BPF_LIMITS][2]; /* soft, hard; ~0 unlimited */
	char comm[BPF_COMM_MAX];
	struct bpf_rank_words ranks; /* as the environment was when it executed its program */
	/*
	 * Of one that failed: so many children of its parent with the same name ended well in a short time since the
	 * last one that failed; these have no record.
	 */
	unsigned well_before;
	unsigned forked; /* it executed no program of its own */
	struct bpf_command command; /* that it executed */
};

/*
 * One instant of a thread: request and result, in memory that both sides map. The stack is copied from the thread's
 * stack pointer (minus the red zone) to its end, or as far as it is mapped.
 */
#define BPF_INSTANT_CHUNKS 256
#define BPF_INSTANT_PAGE 4096 /* bytes copied at a time; unmapped pages cost no more */
#define BPF_INSTANT_STACK 65536
#define BPF_INSTANT_BYTES 131072
#define BPF_INSTANT_WORDS 21 /* struct pt_regs of x86_64 */

struct bpf_instant_chunk {
	unsigned long long addr;
	unsigned int bytes, pad;
};

struct bpf_instant {
	/* request */
	int pid, tid; /* in the pid namespace below */
	unsigned int n_chunks, pad_asked;
	unsigned long long ns_dev, ns_ino; /* 0: the initial one */
	unsigned int sp_word, red_zone;
	/* expected bounds of its stack; used only if the stack pointer is within them */
	unsigned long long stack_lo, stack_end;
	struct bpf_instant_chunk chunk[BPF_INSTANT_CHUNKS];
	/* result */
	unsigned int taken; /* 0: the thread was not on this processor, and nothing else is filled */
	unsigned int at_chunk, at_byte; /* progress: n_chunks and 0, unless the beginning of a chunk was not mapped */
	unsigned int n_bytes, n_stack;
	unsigned int pad;
	unsigned long long begin_ns, end_ns;
	unsigned long long word[BPF_INSTANT_WORDS];
	unsigned long long stack_from;
	unsigned char stack[BPF_INSTANT_STACK + BPF_INSTANT_PAGE];
	unsigned char bytes[BPF_INSTANT_BYTES + BPF_INSTANT_PAGE]; /* of the chunks, one behind the other */
};

/* System calls by number, as far as they matter to wakers.bpf.c. */
#define BPF_WAKER_CALLS 512
#define BPF_WAKER_PAIRS 4096
#define BPF_WAKER_PROCESSES 2048
#define BPF_WAKER_ASKED 512

/* One way in which waits ended. Numbers are of the initial pid namespace. */
struct bpf_waker_key {
	unsigned wakee, waker; /* threads; waker 0: one that is not of the wakee's job */
	unsigned long long arg; /* first argument of the call in which the wakee waited */
	int nr, by; /* that call, and the one in which the waker was */
};

struct bpf_waker_thread {
	unsigned long long start_boot_ns, process_start_boot_ns;
	unsigned tgid, pad;
	char comm[BPF_COMM_MAX];
};

struct bpf_waker_count {
	unsigned long long n;
	struct bpf_waker_thread wakee, waker; /* waker: zeroes if it is not of the job */
};

/* Attempts to connect by TCP that came to nothing. Numbers are of the initial pid namespace. */
#define BPF_REFUSED_ROWS 1024
#define BPF_REFUSED_OPENING 4096

struct bpf_refused_key {
	unsigned char address[16]; /* network order; the first 4 bytes for IPv4 */
	unsigned tgid, parent;
	unsigned short family, port; /* port: network order */
	unsigned pad;
};

struct bpf_refused_count {
	unsigned long long n, last_ns; /* CLOCK_MONOTONIC */
	int error; /* of the last one; 0: the process gave up before there was an answer */
	unsigned made; /* connections that were made */
};

/* Lookups of files, and locks of files, tried without waiting. Numbers are of the initial pid namespace. */
#define BPF_LOOKUP_CALLS 512
#define BPF_LOOKUP_PROCESSES 4096
#define BPF_LOOKUP_ROWS 2048
#define BPF_LOOKUP_PATH 192
#define BPF_LOOKUP_CWD (-100) /* AT_FDCWD */
/* Which argument of a call is the path, and whether the call only asks whether the file is there. */
#define BPF_LOOKUP_ARGUMENT 3
#define BPF_LOOKUP_ASKS 4
/* A call that locks an open file; by a command, as of fcntl, which tells that it does. */
#define BPF_LOOKUP_LOCKS 8
#define BPF_LOOKUP_BY_COMMAND 16
/* A call that lets time pass or manages its own memory; with an argument: if that is 0, as of poll() without files. */
#define BPF_LOOKUP_SLEEPS 32
/* Calls that take in nothing; if the result is 0; of such a file (is_own); opening or mapping one; new connections. */
#define BPF_LOOKUP_GIVES 64
#define BPF_LOOKUP_WAITS 128
#define BPF_LOOKUP_BY_FILE 256
#define BPF_LOOKUP_OPENS 512
#define BPF_LOOKUP_MAPS 1024
#define BPF_LOOKUP_ACCEPTS 2048
#define BPF_LOOKUP_MAKES 4096 /* a folder */
/* In place of a folder: calls that took something in, waits that ended in nothing, what connections brought. */
#define BPF_LOOKUP_TAKEN (-101)
#define BPF_LOOKUP_WAITED (-102)
#define BPF_LOOKUP_ASKED (-103)

struct bpf_lookup_key {
	unsigned tgid, tid;
	int folder; /* the descriptor of the folder from which a relative path starts, or BPF_LOOKUP_CWD */
	unsigned found; /* 1: it is there; of calls: they only let time pass; 2: it is there, and was to be made */
	unsigned dev, pad; /* of a lock: the file system as the kernel numbers it, major << 20 | minor; no path */
	unsigned long long inode; /* of a lock; 0: it is a lookup, or without a path all calls of a main thread */
	unsigned long long end, other_end; /* of a connection; both 0: a wait that ended with something */
	char path[BPF_LOOKUP_PATH];
};

struct bpf_lookup_count {
	unsigned long long n, last_ns; /* CLOCK_MONOTONIC */
};

/* Who ends one certain wait: asked by the reader, answered once. */
struct bpf_waker_asked {
	unsigned long long arg; /* of the wait that is meant */
	unsigned long long turns; /* of the thread on a processor so far: it has not run since it was asked for */
	unsigned answered; /* 1: the fields below are filled */
	unsigned waker; /* 0: one that is not of the job */
	struct bpf_waker_thread by;
};
