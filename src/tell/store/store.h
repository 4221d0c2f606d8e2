/*
 * The store: one SQLite database (WAL) in the state directory, written by
 * every vigil of that directory and read by every command. The only user of
 * sqlite3. Schema: docs/formats/store.md.
 *
 * A damaged database is moved aside (vigil.db.damaged-<time>), a new one is
 * started, and *ret_note says so; nothing gathered is deleted. When the disk
 * is full or the directory cannot be written, calls return the error and the
 * caller goes on: the store is never a reason to stop guarding.
 *
 * Damage that shows only later is repaired by the write that meets it (see
 * store_take_note); a reader that meets it leaves a mark, and the next vigil
 * that writes looks the whole file over. One thread at a time.
 *
 * STORE_HASTE is for who must not wait: a lock that another program holds makes a write fail with -EBUSY after
 * STORE_HASTE_MS, and all writes at once for a time after that, a second at first and a minute at most. What could not
 * be written is the caller's to keep (tell/store/rowlog).
 *
 * Strings and structs passed in are copied. Row callbacks return 0 to go on.
 */
#pragma once

#include "base/base.h"
#include "base/fault.h"
#include "model/jobs/job.h"
#include "tell/store/store_fault.h"

struct store;

/* A report as it is stored. Texts are borrowed. */
struct store_incident {
	const char *id, *job, *kind, *summary;
	const char *json; /* the whole "vigil.incident/1" object */
	uint32_t attempt;
	int64_t time_unix_ms;
	pid_t victim_pid; /* 0: none */
};

/* The database inside the state directory; its -wal changes with every write. */
#define STORE_FILE "vigil.db"

/*
 * state_dir must exist. note gets a sentence when something was repaired, else
 * it is made empty. STORE_NONE: STORE_READ and there is no database yet.
 * -EBADMSG: damaged (STORE_READ only); -EPROTONOSUPPORT: of a newer vigil.
 */
int must_check store_open(const char *state_dir, enum store_mode mode, struct store **ret, char note[static 256],
			  struct fault *f);
/* A store in memory, without rows, for reading what is lent to it. */
int must_check store_open_empty(struct store **ret);
/* Copies a sentence about repairs since the last call; false: there were none. */
bool store_take_note(struct store *s, char note[static 256]);
struct store *store_close(struct store *s);
static inline void store_closep(struct store **s)
{
	*s = store_close(*s);
}

/* Insert or replace by id. */
int must_check store_put_job(struct store *s, const struct job *j);
/* Insert or replace by (job, attempt, pid, start_ticks). */
int must_check store_put_process(struct store *s, const struct job_process *p);
/* Appends; *ret_seq may be NULL. */
int must_check store_add_event(struct store *s, const struct job_event *e, uint64_t *ret_seq);
/* Insert or replace by id. */
int must_check store_put_incident(struct store *s, const struct store_incident *i);
/* Key of the note that says above which share of memory the job's guard acts. */
#define STORE_NOTE_THRESHOLD "guard_threshold_ratio"
/* Key of the note that says above how many used bytes of the job's own limit its guard acts. */
#define STORE_NOTE_ACTS_AT "guard_threshold_bytes"
/* Key of the note that names the job's frameworks: "pytorch", "pytorch+ray". */
#define STORE_NOTE_FRAMEWORK "framework"

/* Old values that `protect` must be able to restore; key is free text ("oom_score_adj 812 99123"). */
int must_check store_put_note(struct store *s, const char *job, const char *key, const char *value);
int must_check store_get_note(struct store *s, const char *job, const char *key, char *dst, size_t cap);
int must_check store_drop_note(struct store *s, const char *job, const char *key);
typedef int store_note_fn(void *ctx, const char *key, const char *value);
int must_check store_each_note(struct store *s, const char *job, store_note_fn *fn, void *ctx);

/* Several writes as one, and faster. A write that fails leaves the others to be committed. */
int must_check store_begin(struct store *s);
int must_check store_commit(struct store *s);
/* True if this event is stored already, whatever its number. */
bool store_has_event(struct store *s, const struct job_event *e);

/*
 * Between the two calls, rows that are put into a store that is open for reading go to this connection only. Every
 * question sees them from then on as if they were in the file. folder: whose jobs/ has the folders of these jobs.
 */
int must_check store_lend_begin(struct store *s, const char *folder);
int must_check store_lend_end(struct store *s);

/* Deletes everything about a job, its own row last, so that an interrupted call can be repeated. */
int must_check store_forget_job(struct store *s, const char *job);

/*
 * name: an id, a job's name (its newest), or "last". STORE_NONE. The log_dir of each job that is read lies below this
 * state directory, or where it was lent from, whatever its row says.
 */
int must_check store_find_job(struct store *s, const char *name, struct job *ret);
/* The newest job that had a process of this pid. STORE_NONE. */
int must_check store_find_job_of_pid(struct store *s, pid_t pid, struct job *ret);
typedef int store_job_fn(void *ctx, const struct job *j);
/* Newest first. limit 0: all. */
int must_check store_each_job(struct store *s, size_t limit, store_job_fn *fn, void *ctx);
typedef int store_process_fn(void *ctx, const struct job_process *p);
int must_check store_each_process(struct store *s, const char *job, store_process_fn *fn, void *ctx);
typedef int store_event_fn(void *ctx, const struct job_event *e);
/* Oldest first, seq > after; job NULL: all jobs. */
int must_check store_each_event(struct store *s, const char *job, uint64_t after, store_event_fn *fn, void *ctx);
/* what: an incident id, a job id or name (its newest incident), a victim's pid, or "last". *ret_json is malloc'ed. */
int must_check store_find_incident(struct store *s, const char *what, char **ret_json);
typedef int store_incident_fn(void *ctx, const char *id, const char *json);
int must_check store_each_incident(struct store *s, const char *job, store_incident_fn *fn, void *ctx);
/* Those that ended a process for memory, by the guard or the kernel: the newest ones, the oldest of them first. */
#define STORE_MEMORY_KILLS 64
int must_check store_each_memory_kill(struct store *s, const char *job, store_incident_fn *fn, void *ctx);
/* The number of incidents of the job. */
int must_check store_count_incidents(struct store *s, const char *job, uint32_t *ret);
/*
 * What is counted over all jobs, also those that were forgotten: each combination once, those that came up first before
 * the others. Counts only grow. key and value are JSON: ["incident", kind, [killer, policy, "retry" or "give_up"], name
 * of the job in hexadecimal] or ["ended", state]; [count, time, id of the newest incident that is kept or ""].
 */
int must_check store_each_tally(struct store *s, store_note_fn *fn, void *ctx);
