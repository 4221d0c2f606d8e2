/* What the files of agent/speed/speedwatch share. */
#pragma once

#include "agent/inspect/procview.h"
#include "agent/speed/speedwatch.h"
#include "sense/native/stopper.h"
#include "sense/pylib/raycall.h"
#include "sense/speed/cpustat.h"
#include "sense/speed/memcount.h"
#include "sense/speed/resctrl.h"
#include "sense/wait/threadwait.h"

struct speedwatch_thread {
	struct threadcost begin, last;
	uint64_t begin_ns;
	bool gone;
	uint32_t lock[4], lock_n[4]; /* the futexes that it waited for most: numbers, and how often */
	bool lock_shared[4];
	/*
	 * What has not run since is still in the wait that it was seen in: its schedstat is the same text.
	 */
	struct threadwatch_call call; /* as last seen */
	char letter; /* as last seen; 0: never */
	int schedstat_fd; /* -1: none is kept */
	char schedstat[48];
	uint64_t idle_since_ns; /* it has not run since this sweep */
	uint32_t left; /* sweeps to leave it alone from now on */
	uint32_t runs, missed; /* sweeps at which it ran; times that it could not be caught */
};

#define SPEEDWATCH_CHILDREN 16

/* One process while it is watched; the facts of it have the same index. */
struct speedwatch_process {
	struct procview *view; /* NULL: no Python, or not to be read */
	struct threadwatch *watch; /* NULL before the first look */
	int children_fd; /* -1: it is no main process, or the kernel has no such file */
	pid_t child[SPEEDWATCH_CHILDREN]; /* that ran at the last look and are not watched themselves */
	size_t n_children;
	pid_t listed[SPEEDWATCH_CHILDREN]; /* those of them a while before */
	size_t n_listed;
	uint32_t children, children_sweeps; /* that were seen, each once; looks at which there was one */
	uint64_t reaped_begin_ns, reaped_ns;
	bool has_io;
	struct iocalls io_begin;
	struct stopper *stopper; /* NULL: no thread of it was caught; else remote is open */
	struct remote remote;
	bool gone;
};

#define SPEEDWATCH_DRIVERS 4
#define SPEEDWATCH_RAY_WORKERS 512

/* One of Ray's workers, with a view. */
struct speedwatch_worker {
	size_t process, lead; /* indices of the facts; lead: its main thread, SIZE_MAX: it is not watched */
	bool has_work;
	enum raycall_work work; /* as last read */
	uint64_t read_ns; /* at this sweep: as long as the main thread has not run since, it holds */
};

/* Ray's program and workers; n_drivers 0: there is no Ray in the job, or its program is not found. */
struct speedwatch_ray {
	struct procview *driver[SPEEDWATCH_DRIVERS];
	bool own[SPEEDWATCH_DRIVERS]; /* not of the job, opened for this alone */
	size_t n_drivers;
	struct speedwatch_worker worker[SPEEDWATCH_RAY_WORKERS];
	size_t n_workers;
	uint64_t looked_ns, first; /* first: of the result that was waited for last */
	double results;
};

/* The counters of what memory moves, while they are open. */
struct speedwatch_traffic {
	struct memcount count; /* owned */
	struct resctrl groups; /* owned; as they were at the start */
	bool has_groups;
	uint64_t at_ns, groups_ns;
	enum speed_traffic_why why; /* of count.n being 0 */
};

struct speedwatch {
	const struct world *w;
	const struct speedwatch_want *want;
	struct speedfacts *f;
	size_t process_cap, thread_cap;
	struct speedwatch_process *process; /* owned */
	size_t own_process_cap;
	struct speedwatch_thread *thread; /* owned */
	size_t own_thread_cap;
	size_t sweep_cap;
	uint64_t begin_ns, sweep_ns;
	struct tasks tasks; /* owned; all processes of the machine at the start, until around takes them */
	uint64_t running; /* sum over the sweeps of the machine's runnable threads, without vigil */
	size_t n_running;
	struct cpuset_bits allowed; /* of all threads together */
	struct speedwatch_ray ray;
	struct procview *loads; /* borrowed; NULL: no program of PyTorch that can be read */
	uint64_t loader_looked_ns;
	uint64_t anew_until_ns; /* 0: it is not to begin anew any more */
	uint64_t stay_ns; /* children were last compared */
	bool anew; /* processes have started that are to be watched as well */
	bool of_workers; /* at the last look it started or ended workers */
	struct speedwatch_traffic traffic;
	struct instant *instant; /* owned, as the stack; NULL: not wanted yet */
	struct unwind_stack *stack;
};

/* The processes of the job and their threads, and those that have been added since. -ENOMEM. */
int must_check speedwatch_processes(struct speedwatch *s);
/* Threads that have started since. -ENOMEM. */
int must_check speedwatch_new_threads(struct speedwatch *s);
/* The libraries that are loaded by the end, and which of them has started which thread. -ENOMEM. */
int must_check speedwatch_whose(struct speedwatch *s);
/* The schedstat of a thread, kept open; -1: it is not, as there are too many files. */
int speedwatch_schedstat(struct speedwatch *s, size_t i);
/* One instant of all threads. -ENOMEM. */
int must_check speedwatch_sweep(struct speedwatch *s);
/* After a sweep: the system calls of some threads that run, where that is permitted without stopping them. */
void speedwatch_asks(struct speedwatch *s);
void speedwatch_asks_done(struct speedwatch *s);
/* True: the process is one of those that are watched. */
bool speedwatch_has(const struct speedfacts *f, pid_t pid);
/* Children of the main processes that are not watched themselves: they came, and most of them go soon. */
void speedwatch_children_begin(struct speedwatch *s);
void speedwatch_children(struct speedwatch *s);
/* True: one of these children was there at the call before, so it stays. */
bool speedwatch_children_stay(struct speedwatch *s);

/* Ray's program and its workers: by a sweep that is due. */
void speedwatch_ray_begin(struct speedwatch *s);
void speedwatch_ray(struct speedwatch *s);
/* When the looks are over: what the busiest actors are called, some tenths of a second. */
void speedwatch_ray_names(struct speedwatch *s);
void speedwatch_ray_done(struct speedwatch *s);

/* What a program of PyTorch does inside its DataLoader: by a sweep that is due. */
void speedwatch_loader_begin(struct speedwatch *s);
void speedwatch_loader(struct speedwatch *s);

/* What memory moves, counted by ops: the kernel's, or a test's. */
void speedwatch_traffic_begin(struct speedwatch *s, const struct memcount_ops *ops);
/* Into the facts' machine, once it is known what the threads cost. */
void speedwatch_traffic_end(struct speedwatch *s);
void speedwatch_traffic_done(struct speedwatch *s);

/* True: the Python stack of the main thread was read. */
bool speedwatch_frames(struct procview *view, enum procview_still still, struct procview_sample *ret);

/* The machine and those outside the job: read at the start and at the end. */
struct speedwatch_around {
	struct cputopo topo;
	bool has_topo;
	struct cpustat *cpu; /* owned; NULL: unknown */
	struct swapstat swap;
	bool has_swap;
	struct cpuquota quota;
	bool has_quota;
	uint64_t pressure_us;
	bool has_pressure;
	struct tasks tasks; /* owned; of the first one */
	uint64_t at_ns;
};
/* tasks: the processes of this moment, which it takes over; NULL: the end, at which they are read again one by one. */
void speedwatch_around_read(const struct world *w, pid_t pid, struct tasks *tasks, struct speedwatch_around *ret);
void speedwatch_around_done(struct speedwatch_around *a);
void speedwatch_machine(const struct speedwatch *s, const struct speedwatch_around *a,
			const struct speedwatch_around *b);
