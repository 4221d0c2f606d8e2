/* What the runner of a bag knows, and what its files do for each other. */
#pragma once

#include "agent/incident/recorder.h"
#include "agent/map/mapleft.h"
#include "agent/map/maplog.h"
#include "agent/map/mapparts.h"
#include "act/spawn.h"
#include "act/taskgroup.h"
#include "judge/map/admit.h"
#include "sense/proc/proctree.h"
#include "sense/world.h"

#define MAP_GPUS 64
#define MAP_TIMES 512

struct map {
	const struct map_spec *spec;
	const struct world *w;
	struct mapinputs *in;
	struct maplog log;
	struct mapoutput output;
	struct template_words words;
	uint64_t total, next_seq;
	bool inputs_over, in_polled;
	struct map_task *again, **again_end; /* to be tried again, first come first served */
	struct map_task *waiting; /* the next new one, until there is memory for it */
	uint32_t passed_over; /* tasks that were started before the first of those to be tried again */
	struct map_runner *runner[MAP_SLOTS]; /* the oldest first */
	uint32_t n_runners;
	bool slot_used[MAP_SLOTS + 1];
	struct map_memory memory;
	struct map_bar bar;
	char gpu[MAP_GPUS][48]; /* as CUDA_VISIBLE_DEVICES names them */
	uint32_t n_gpus, slots; /* slots: tasks at a time */
	char env_gpus[MAP_GPUS * 48 + 32];
	struct map_tally tally;
	struct map_spec retried; /* --retry-failed: what was asked for, with the inputs of the joblog */
	char **retry_line;
	bool slots_complained;
	uint64_t skipped; /* were run before */
	enum halt_when halt;
	uint32_t stops; /* signals that asked us to end */
	int fatal; /* exit status, once the bag cannot go on; 0: it can */
	double time_s[MAP_TIMES]; /* of tasks that succeeded, the last ones */
	uint64_t n_times;
	uint64_t last_start_ns;
	int epoll_fd, signal_fd, null_fd;
	sigset_t old_mask;
	char **env; /* of a task, with places for what differs */
	char env_text[7][128];
	char env_job[96]; /* VIGIL_JOB_ID=…, as tasks have it */
	struct taskgroups groups; /* where we may make some */
	uint32_t slot_group[MAP_SLOTS + 1]; /* the group of the next task there; 0: none yet */
	uint32_t n_groups; /* numbers given */
	bool groups_stay; /* processes are left in them */
	struct warden warden;
	pid_t earlier[16]; /* our children from before we were vigil: none of a task's; 0: none */
	struct job job;
	struct recorder recorder;
	bool stored;
	int note_fd; /* of agent/incident/leftover */
	uint32_t n_events;
	uint64_t start_boot_ns;
	bool reap_later; /* children may have ended while output was blocked */
	bool held_up; /* no process or descriptor is left for another task now */
	bool complained;
	bool no_memory; /* the next task waits until there is room for it */
};

/* ---- map_start.c ---- */
int must_check map_start_prepare(struct map *m);
/* Starts what may be started now. */
void map_start_all(struct map *m);
/* True if another task could be started but for the inputs that have not come, or a delay. */
bool map_start_open(const struct map *m);
uint64_t map_start_due_ns(const struct map *m);

/* ---- map_end.c ---- */
void map_reap(struct map *m);
void map_ask_end(struct map *m, struct map_runner *r, enum map_why why);
void map_kill(struct map *m, struct map_runner *r);
/* Timeouts and tasks that did not end when asked to. */
void map_end_timers(struct map *m);
uint64_t map_end_due_ns(const struct map *m);
/* A task is over for good, or was not run at all. */
void map_count(struct map *m, bool failed, int status);
void map_task_free(struct map_task *t);
/* The inputs joined by blanks, if lines are to begin with them; malloc'ed. */
char *map_tag(const struct map *m, const struct map_task *t);

/* ---- map_memory.c: what tasks hold, who may start, who has to wait or go ---- */
void map_memory_open(struct map *m);
void map_memory_close(struct map *m);
/* Notes what the task is expected to need. False: not now. */
bool map_memory_admits(struct map *m, struct map_task *t);
void map_memory_learn(struct map *m, const struct map_runner *r, uint64_t peak_bytes);
void map_memory_look(struct map *m);
void map_memory_soon(struct map *m);
void map_memory_resume(struct map *m, struct map_runner *r);
uint64_t map_memory_due_ns(const struct map *m);

/* ---- map_groups.c: the processes of a task, by its control group where there is one ---- */
/* Writes the note of agent/incident/leftover as well. */
void map_groups_open(struct map *m);
void map_groups_close(struct map *m);
/* For act/spawn; -1: there is none. The caller closes it. */
int map_groups_open_slot(struct map *m, uint32_t slot);
/* Those that descend from it, and those in its group. */
size_t map_task_rows(struct map *m, const struct map_runner *r, struct proctree_row *rows, size_t cap);
/* To all processes of a task. */
void map_signal(struct map *m, const struct map_runner *r, int signal);
/* The task is over: SIGKILL to what is left in its group. */
void map_groups_over(struct map *m, struct map_runner *r);
void map_suspend(struct map *m, struct map_runner *r);
void map_continue(struct map *m, struct map_runner *r);

/* ---- map_gpus.c ---- */
/* Finds the GPUs, if tasks are to have some, and how many tasks they are enough for. -errno with a sentence. */
int must_check map_gpus_find(struct map *m, struct fault *f);
/* CUDA_VISIBLE_DEVICES of the task in this place; empty: it gets ours. */
void map_gpus_of(struct map *m, uint32_t slot);

/* ---- map_bar.c ---- */
void map_bar_open(struct map *m);
void map_bar_close(struct map *m);
/* Before anything else is written to the terminal. */
void map_bar_clear(struct map *m);
void map_bar_draw(struct map *m);
uint64_t map_bar_due_ns(const struct map *m);

/* ---- map_strays.c: our children that are no tasks were left by one ---- */
void map_strays_earlier(struct map *m); /* before anything is started: fills `earlier` */
/* A child that was no task has ended, and its number is free. */
void map_strays_reaped(struct map *m, pid_t pid);
/* Ends those whose task is over; all: those of any. */
void map_strays_end(struct map *m, bool all);
/* The bag is over: nothing of it stays. */
void map_strays_last(struct map *m);

/* ---- map_job.c: the bag as a job of the store ---- */
void map_job_begin(struct map *m);
/* The first tasks run. */
void map_job_started(struct map *m);
void map_job_event(struct map *m, const char *kind, const char *fmt, ...) printf_like(3, 4);
/* What a task runs, to be shown: masked before it is cut, as half of a secret is not known as one. */
void map_line_masked(const char *line, char *dst, size_t cap);
/* A task that has lived for a while becomes a row of `vigil ps`. */
void map_job_process(struct map *m, struct map_runner *r);
void map_job_process_end(struct map *m, struct map_runner *r, int status);
/* A task is ended for memory: the report. */
void map_job_killed(struct map *m, const struct map_runner *r);
void map_job_end(struct map *m, int status);

/* ---- map_resume.c ---- */
/* Ends what tasks of a runner that is gone have left, if it wrote the same joblog. */
void map_resume_left(struct map *m);
/* Compares the tasks that a joblog says were run with those at hand. -errno with a sentence. */
int must_check map_resume_check(struct map *m, struct fault *f);
/* True if the joblog says that this task need not be run. */
bool map_resume_done(const struct map *m, uint64_t seq);
/* The words of a task into m->words. */
int must_check map_fill(struct map *m, const struct map_task *t, uint32_t slot);
/* The words in m->words as a line for the joblog; malloc'ed, or NULL. */
char *map_line(const struct map *m, const struct map_task *t);
/* The tasks that a joblog says have failed become the inputs (--retry-failed). -errno with a sentence. */
int must_check map_resume_retry(struct map *m, struct fault *f);

/* ---- map_slots.c ---- */
/* A task has ended: the file of --jobs may say something else now. */
void map_slots_follow(struct map *m);
