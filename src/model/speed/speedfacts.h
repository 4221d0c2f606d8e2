/*
 * What was seen of a job while it was watched for some seconds, for the judge of its speed: what each of its threads
 * cost, and what each of them did at each of many instants. Plain data; owned by whoever fills it.
 *
 * "Cores" are sums of processor time over the time of watching: 1.5 means that one and a half processors were used.
 * Ratios are 0..1 of the time of watching.
 */
#pragma once

#include <sys/types.h>

#include "model/jobs/role.h"
#include "model/speed/speedtraffic.h"
#include "sense/speed/threadcost.h"

/* What a thread did at one instant; the letters stand in scenarios and in the rows of struct speedfacts. */
#define SPEED_RUN 'R' /* on a processor, or wants to be */
#define SPEED_GIL 'G' /* waits for Python's GIL */
#define SPEED_MUTEX 'M' /* waits for a mutex */
#define SPEED_LOCK 'L' /* other futex: a condition variable or semaphore, so most often for work */
#define SPEED_SLEEP 's' /* sleeps by its own wish */
#define SPEED_POLL 'p'
#define SPEED_PIPE 'i'
#define SPEED_WRITE 'w' /* until somebody takes what it writes to a pipe, socket or terminal */
#define SPEED_SOCKET 'k'
#define SPEED_CHILD 'c' /* for a child to end */
#define SPEED_FILE 'f'
#define SPEED_DISK 'D' /* uninterruptible, most often for a disk or a file server */
#define SPEED_MEMORY 'm' /* for a page, or held back by memory.high */
#define SPEED_GPU 'g'
#define SPEED_STOPPED 'T'
#define SPEED_OTHER '.' /* waits; for what is not known */
#define SPEED_AWAY ' ' /* not there yet, or no more */

struct speed_thread {
	pid_t tid;
	char comm[16];
	unsigned lib; /* enum threadlib: that has started it; 0: none of them, or not known */
	size_t process; /* index */
	bool lead; /* the main thread of its process */
	bool gone; /* ended while it was watched: its costs are those until it was last read */
	double run, queued; /* cores; run includes system */
	double system;
	double slices, voluntary, involuntary; /* a second */
	double minor_faults, major_faults; /* a second */
	double block; /* ratio: waiting for disks; 0 where it is not counted */
	uint32_t lock; /* the futex it waited for most while in SPEED_MUTEX or SPEED_LOCK: equal numbers, equal place */
	bool lock_shared; /* that futex may be one of several processes; else equal numbers count within one */
	uint32_t processor; /* where it last ran */
	/*
	 * Instants at which it was caught on its processor; of them, in a system call (futex and sched_yield are left
	 * out), and in one that asks and does not wait (sense/speed/askcall), the last of which is named. Some of them
	 * follow each other within microseconds: ask_sweeps is in how many sweeps it asked. 0: that may not be seen.
	 */
	uint32_t caught, calls, asks, ask_sweeps;
	char ask[32];
	char *at; /* n_sweeps letters */
};

struct speed_process {
	pid_t pid, ppid;
	enum role role;
	int32_t rank;
	char name[32];
	char called[96]; /* an actor of Ray that worked: its name and class for people; "": not known */
	bool main; /* a rank, or what the job was begun with */
	bool denied; /* what its threads wait for may not be read */
	bool python;
	size_t parent; /* index; SIZE_MAX: not of this job */
	size_t first, n; /* its threads */
	uint64_t own_bytes;
	unsigned libs; /* enum threadlib */
	/* What its environment sets, as it was when the program was started; 0: not set or not a number. */
	uint32_t set_threads; /* the smallest of the thread variables */
	double reads, writes; /* calls a second; 0 where they may not be read */
	double read_bytes, write_bytes; /* a second, by these calls */
	/* Children of its main thread that started while it was watched: those that were seen, a second; and when. */
	double children, children_ratio;
	double started; /* children that it waited for, in cores */
};

struct speed_machine {
	uint32_t cpus, cores; /* of the machine */
	uint32_t job_cpus, job_cores; /* that the job may use */
	uint32_t job_pairs; /* cores of which the job's threads ran on two processors at once, mostly */
	double quota_cores; /* 0: none */
	char quota_group[256];
	double periods, throttled; /* of the quota's group, while it was watched */
	double throttled_cores; /* time that it was held back for, summed over the processors; 0: not known */
	bool has_cpu; /* the three below; in cores */
	double busy, steal, iowait;
	double idle_elsewhere; /* of processors that the job may not use */
	bool has_running;
	double running; /* mean number of threads of the whole machine that ran or wanted to; without vigil */
	bool has_clock;
	double clock_ratio; /* present frequency over the highest one */
	double throttles; /* a second: clock lowered by heat or power */
	bool has_swap;
	double swap_in_bytes, swap_out_bytes; /* a second */
	bool has_pressure;
	double memory_pressure; /* ratio of time in which some task waited for memory */
	uint64_t shm_total_bytes, shm_free_bytes; /* 0: unknown */
	uint64_t limit_bytes, used_bytes; /* of the control group or the machine; 0: unknown */
	bool limit_is_group;
	bool group_full; /* with the files that it has read, which are dropped first */
	uint32_t nodes; /* NUMA */
	bool has_remote;
	double remote_ratio; /* of the memory of the busiest process, on another node than it runs on */
	struct speed_traffic traffic;
};

/* The most processor time that processes outside the job used. */
struct speed_other {
	pid_t pid;
	char name[32];
	double run;
};
#define SPEED_OTHERS 3

/* What the job's output says. */
struct speed_steps {
	bool broken, infinite; /* the loss is no number */
	bool has_broken_step;
	uint64_t broken_step;
	bool has_rate;
	double rate_now, rate_before; /* steps a second: while it was watched, and from the start to then */
	uint64_t step;
};

/*
 * What the program of a Ray job waits for, at some of the instants, and what Ray's workers do meanwhile (main threads).
 * Counts of looks; 0 where there is no Ray, or its program is not found.
 */
struct speed_ray {
	uint32_t looks;
	uint32_t waits; /* it waited in ray.get() */
	uint32_t singles; /* of these, for one result alone */
	uint32_t followed; /* and that was another one than at the wait before */
	uint32_t task_alone; /* of singles: one worker alone worked, on a task */
	uint32_t actor_alone; /* of the waits for several: one actor alone worked, the same one as before */
	double results; /* mean number that it waited for in these */
	pid_t driver, actor; /* actor 0: none */
	char actor_name[96], task_name[64]; /* the user's words, printable */
	size_t workers; /* of all names and none */
};

/* What the first program of PyTorch does inside its DataLoader, by looks at its main thread. */
struct speed_loader {
	uint32_t looks; /* at which its Python stack was read; 0: no such program, or it may not be read */
	uint32_t missed; /* at which it was not */
	uint32_t reads; /* of looks: it read items itself */
	uint32_t workers; /* children that were the loader's workers, at a look */
	uint32_t starts, ends; /* it started or ended workers */
	uint32_t times; /* that it began with either */
	size_t process; /* index */
	bool gpu; /* it has a GPU's device mapped, which may work meanwhile */
};

struct speedfacts {
	double watched_s;
	size_t n_sweeps;
	struct speed_process *process;
	size_t n_processes;
	struct speed_thread *thread; /* sorted by process */
	size_t n_threads;
	struct speed_machine machine;
	struct speed_other other[SPEED_OTHERS];
	size_t n_others;
	struct speed_steps steps;
	struct speed_ray ray;
	struct speed_loader loader;
	size_t n_denied; /* processes that could not be looked into */
	bool cut; /* there are more processes or threads than are watched */
};

void speedfacts_done(struct speedfacts *f);

/* Of the library that a person calls, where bits has several: "OpenBLAS", and "OPENBLAS_NUM_THREADS". */
const char *threadlib_name(unsigned bits);

const char *threadlib_remedy(unsigned bits);
/*
 * Of the libraries that a process has loaded (libs) those whose threads are busy, by the libraries that have started
 * its busy threads: OpenMP's work for whoever calls it.
 */
unsigned threadlib_busy(unsigned libs, unsigned started);
/* By which a program sets it itself: "torch.set_num_threads()". */
const char *threadlib_call(unsigned bits);
