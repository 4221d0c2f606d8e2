/*
 * The series file of a job: what its ranks and its node used over time, and
 * which processes came and went. Appended to while the job runs, one write a
 * look, so that it is worth reading however vigil ended. Format:
 * docs/formats/series.md.
 *
 * The file never grows beyond its bound: when it is full, samples are thinned
 * the more the older they are (tell/store/seriestier), and of the processes
 * that ended those that lived shortest go. All counters in a sample are sums
 * since the job began: what is dropped makes a rate coarser, never wrong.
 *
 * Reading trusts nothing: each record carries a checksum, and bytes that are
 * no record (torn, overwritten, garbage) are passed over and counted.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "base/text.h"
#include "model/jobs/steptimes.h"

#define SERIES_FILE "series"
#define SERIES_LANES 65
#define SERIES_MAX_BYTES (8 * MIB)
#define SERIES_DEVICES_MAX 32
#define SERIES_BULK_MAX 16

struct series_lane {
	int32_t rank; /* NO_RANK: processes without one */
	bool has_io;
	uint32_t processes; /* at most 65535 are stored */
	uint64_t cpu_ns; /* sum */
	uint64_t own_bytes, rss_bytes;
	uint64_t read_bytes, written_bytes, read_call_bytes, write_call_bytes; /* sums */
};

struct series_sample {
	int64_t time_unix_ms;
	uint64_t mono_ns; /* CLOCK_MONOTONIC: what rates are computed with */
	uint32_t attempt;
	uint64_t node_used_bytes, node_total_bytes; /* 0: not known */
	uint64_t job_bytes; /* of the job's control group, shared memory included; 0: not known */
	uint32_t n_lanes;
	struct series_lane lane[SERIES_LANES];
};

/* Written when a process is first seen, when its name changes, and when it has ended. */
struct series_process {
	pid_t pid, ppid;
	uint64_t start_ticks;
	int32_t rank;
	uint32_t attempt;
	int64_t started_unix_ms;
	int64_t ended_unix_ms; /* 0: it still ran when this was written */
	uint64_t own_bytes; /* as last sampled, in whole KiB; 0: not known */
	char role[16];
	char name[32];
};

/* How far a rank had come, by what it prints. */
struct series_step {
	int32_t rank; /* NO_RANK: the job has no ranks */
	bool has_total;
	uint64_t step, total;
};

/* Written with a sample when a step has changed. */
struct series_steps {
	int64_t time_unix_ms;
	uint64_t mono_ns;
	uint32_t attempt;
	uint32_t n;
	struct series_step of[SERIES_LANES];
};

enum { SERIES_HAS_BUSY = 1, SERIES_HAS_USED = 2, SERIES_HAS_TOTAL = 4 };

/* A GPU or NPU that a rank of the job uses. One that several use is told of the lowest. */
struct series_device {
	uint32_t index; /* in its driver's order */
	int32_t rank; /* NO_RANK: processes without one */
	uint32_t has; /* SERIES_HAS_*: which of the following are known */
	uint32_t busy_percent; /* of time in which any kernel ran, of all processes */
	uint64_t used_bytes, total_bytes; /* of the device's memory, by all processes */
};

/* Written with a sample when a newer look at the devices is there. */
struct series_devices {
	int64_t time_unix_ms; /* of that look */
	uint64_t mono_ns;
	uint32_t attempt;
	uint32_t n;
	struct series_device of[SERIES_DEVICES_MAX];
};

/* A process that is told apart (model/jobs/bulk). */
struct series_bulk_process {
	pid_t pid;
	uint64_t start_ticks;
	uint64_t own_bytes;
};

/* Of a job without ranks: its large processes at the sample before, of which these are a part. */
struct series_bulk {
	int64_t time_unix_ms;
	uint64_t mono_ns;
	uint32_t attempt;
	uint32_t n;
	struct series_bulk_process of[SERIES_BULK_MAX];
};

struct series_writer;

/* A new file, replacing an old one. */
int must_check series_create(const char *path, size_t max_bytes, struct series_writer **ret);
struct series_writer *series_close(struct series_writer *w);
/* Added to what the next flush writes. */
int must_check series_add_sample(struct series_writer *w, const struct series_sample *s);
int must_check series_add_process(struct series_writer *w, const struct series_process *p);
int must_check series_add_steps(struct series_writer *w, const struct series_steps *s);
int must_check series_add_devices(struct series_writer *w, const struct series_devices *s);
/* Right behind the sample that it belongs to: both stay, or both go. */
int must_check series_add_bulk(struct series_writer *w, const struct series_bulk *s);
/* One write(); makes room first when the file is full. Records that cannot be written are dropped. */
int must_check series_flush(struct series_writer *w);

enum series_kind { SERIES_SAMPLE = 1, SERIES_PROCESS = 2, SERIES_STEPS = 3, SERIES_DEVICES = 5, SERIES_BULK = 6 };

struct series_record {
	enum series_kind kind;
	union {
		struct series_sample sample;
		struct series_process process;
		struct series_steps steps;
		struct series_devices devices;
		struct series_bulk bulk;
	};
};

struct series_reader {
	struct span rest;
	uint64_t skipped_bytes; /* bytes that were no record */
	uint64_t budget; /* remaining budget of bytes that are checked in vain */
};

/* text: a whole file, borrowed. -EBADMSG: it does not begin as one. Pure. */
int must_check series_reader_init(struct series_reader *r, struct span text);
/* How long the steps took whose records were thinned out; false: none were. text: as above; its first record tells. */
bool series_step_times(struct span text, struct step_times *ret);
/* False at the end. */
bool series_next(struct series_reader *r, struct series_record *ret);
