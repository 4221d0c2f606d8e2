#include "agent/incident/recorder.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mask/mask.h"
#include "base/private.h"
#include "base/units.h"
#include "tell/incident/report.h"

#define REPORT_MOST (16 * MIB)

static void complain(struct recorder *k, const char *what, int r)
{
	if (k->complained)
		return;
	k->complained = true;
	log_warning("cannot keep %s in %s (%s); the job goes on and reports are still printed, but not all is stored",
		    what, k->state_dir, strerror(r < 0 ? -r : EIO));
}

/* The folder of the job; for a user who is not ourselves, the file for the rows as well. */
static int job_folder(struct recorder *k, uid_t owner)
{
	char users[PATH_MAX], rows[PATH_MAX];
	bool others = geteuid() == 0 && owner != 0;
	int r = others ? private_user_folder(k->state_dir, owner, users, sizeof(users)) : 0;
	if (r < 0) {
		log_debug("user %u may not read what is kept of %s: %s", (unsigned)owner, k->job_id, strerror(-r));
		others = false;
	}
	if (text_format(k->job_dir, sizeof(k->job_dir), "%s/jobs/%s", others ? users : k->state_dir, k->job_id) >=
	    (int)sizeof(k->job_dir))
		return -ENAMETOOLONG;
	r = private_mkdirs(k->job_dir);
	if (r < 0 || !others)
		return r;
	TEXT_FORMAT(rows, "%s/" RECORDER_ROWS, k->job_dir);
	k->rows_fd = open(rows, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, private_file());
	return k->rows_fd < 0 ? -errno : 0;
}

void recorder_open_for(struct recorder *k, const char *state_dir, const char *job_id, uid_t owner)
{
	*k = (struct recorder){.rows_fd = -1, .unstored = UNSTORED_NONE};
	TEXT_COPY(k->state_dir, state_dir);
	TEXT_COPY(k->job_id, job_id);
	int r = private_state(state_dir);
	if (r == 0)
		r = job_folder(k, owner);
	if (r < 0) {
		complain(k, "anything", r);
		k->job_dir[0] = '\0';
	}
}

void recorder_open(struct recorder *k, const char *state_dir, const char *job_id)
{
	recorder_open_for(k, state_dir, job_id, geteuid());
}

/* ---- the store ---- */

/* A store that could not be opened is tried again after this long. */
static const uint64_t open_again_ns = 10 * NS_PER_S;

static int try_open(struct recorder *k, struct fault *f)
{
	char note[256] = "";
	int r = store_open(k->state_dir, STORE_HASTE, &k->store, note, f);
	if (note[0])
		log_warning("%s", note);
	k->locked = r == -EBUSY;
	k->again_ns = clock_mono_ns() + open_again_ns;
	return r;
}

void recorder_begin(struct recorder *k, const struct job *j)
{
	const struct rowlog_row row = {.kind = ROWLOG_JOB, .what = j};
	if (k->job_dir[0] == '\0')
		return;
	int r = unstored_open(&k->unstored, k->state_dir, k->job_id);
	if (r == 0)
		r = rowlog_write(k->unstored.fd, &row);
	if (r < 0)
		log_debug("%s: %s; the job is noted in the store only", k->unstored.path, strerror(-r));
}

void recorder_open_store(struct recorder *k)
{
	struct fault f = {0};
	if (k->job_dir[0] == '\0')
		return;
	int r = try_open(k, &f);
	if (r == 0) {
		unstored_take_up(k->state_dir, k->store);
		ignore(unstored_replay(&k->unstored, k->store), "the next row tries it again");
	} else if (k->locked) {
		log_debug("%s: the job is stored later", f.text);
	} else {
		unstored_drop(&k->unstored);
		if (!k->complained)
			log_warning("%s; the job goes on, but is not kept in the store", f.text);
		k->complained = true;
	}
}

void recorder_share_store(struct recorder *k, const struct recorder *owner)
{
	k->owner = owner;
}

struct store *recorder_store(const struct recorder *k)
{
	return k->owner ? k->owner->store : k->store;
}

static bool is_locked(const struct recorder *k)
{
	return k->owner ? k->owner->locked : k->locked;
}

/* -EBUSY: the store is still locked. */
static int catch_up(struct recorder *k)
{
	struct fault f;
	if (!k->owner && k->locked && clock_mono_ns() >= k->again_ns)
		ignore(try_open(k, &f), "it is tried again");
	struct store *s = recorder_store(k);
	return s ? unstored_replay(&k->unstored, s) : -EBUSY;
}

/* Once a row waits, the later ones go behind it: an earlier one must not replace a later one. */
static int put_stored(struct recorder *k, const struct rowlog_row *row)
{
	int r = 0;
	if (k->unstored.fd >= 0 || is_locked(k))
		r = catch_up(k);
	if (r == 0 && recorder_store(k))
		r = rowlog_store(recorder_store(k), row);
	if (r != -EBUSY)
		return r;
	r = k->unstored.fd >= 0 ? 0 : unstored_open(&k->unstored, k->state_dir, k->job_id);
	return r == 0 ? rowlog_write(k->unstored.fd, row) : r;
}

static void recorder_put(struct recorder *k, enum rowlog_kind kind, const void *what, const char *name)
{
	const struct rowlog_row row = {.kind = kind, .what = what};
	int kept = k->rows_fd >= 0 ? rowlog_write(k->rows_fd, &row) : 0;
	int r = recorder_store(k) || is_locked(k) ? put_stored(k, &row) : 0;
	if (r < 0 || kept < 0)
		complain(k, name, r < 0 ? r : kept);
	if (k->ear)
		k->ear->row(k->ear_ctx, &row);
}

/* Asks anew, and no longer than STORE_HASTE_MS, whatever was answered before. */
static int last_try(struct recorder *k)
{
	if (!k->owner) {
		k->store = store_close(k->store);
		k->locked = true;
		k->again_ns = 0;
	}
	return catch_up(k);
}

void recorder_close(struct recorder *k)
{
	if (k->unstored.fd >= 0 && last_try(k) < 0)
		log_warning("the store in %s is locked by another program; the job is added to it by the next command "
			    "of vigil",
			    k->state_dir);
	unstored_close(&k->unstored);
	closep(&k->rows_fd);
	k->rows_fd = -1;
	k->store = store_close(k->store);
}

void recorder_threshold(struct recorder *k, const struct job *j, double ratio, uint64_t bytes)
{
	char text[32];
	struct store *store = recorder_store(k);
	TEXT_FORMAT(text, "%.6f", ratio);
	if (store && ratio > 0)
		ignore(store_put_note(store, j->id, STORE_NOTE_THRESHOLD, text), "the metric is then missing");
	TEXT_FORMAT(text, "%llu", (unsigned long long)bytes);
	if (store && ratio > 0 && bytes > 0)
		ignore(store_put_note(store, j->id, STORE_NOTE_ACTS_AT, text), "the line is then missing");
}

void recorder_framework(struct recorder *k, const struct job *j, const char *names)
{
	struct store *store = recorder_store(k);
	if (store)
		ignore(store_put_note(store, j->id, STORE_NOTE_FRAMEWORK, names), "the metric is then missing");
}

void recorder_job(struct recorder *k, const struct job *j)
{
	recorder_put(k, ROWLOG_JOB, j, "the job");
}

void recorder_process(struct recorder *k, const struct job_process *p)
{
	recorder_put(k, ROWLOG_PROCESS, p, "a process");
}

void recorder_event(struct recorder *k, const struct job *j, const char *kind, const char *incident, const char *fmt,
		    ...)
{
	struct job_event e = {.time_unix_ms = clock_unix_ms(), .attempt = j->attempt};
	TEXT_COPY(e.job, j->id);
	TEXT_COPY(e.kind, kind);
	if (incident)
		TEXT_COPY(e.incident, incident);
	char whole[4096]; /* a secret that is cut in the middle would not be known as one */
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(whole, sizeof(whole), fmt, ap);
	va_end(ap);
	mask_text(whole);
	TEXT_COPY(e.text, whole);
	recorder_put(k, ROWLOG_EVENT, &e, "an event");
}

void recorder_ended(struct recorder *k, struct job *j, uint64_t lived_ns)
{
	const int64_t slewed_ms = 2000; /* clocks are adjusted by at most this without being set */
	char text[24];
	j->ended_unix_ms = clock_unix_ms();
	int64_t began_ms = j->ended_unix_ms - (int64_t)(lived_ns / NS_PER_MS), by_ms = began_ms - j->started_unix_ms;
	uint64_t far_ms = by_ms < 0 ? -(uint64_t)by_ms : (uint64_t)by_ms;
	if (far_ms <= (uint64_t)(slewed_ms + (int64_t)(lived_ns / NS_PER_MS / 1000)))
		return;
	recorder_event(k, j, "clock_set", NULL,
		       "the clock was set %s by %s while the job ran: its start is told by the new time",
		       by_ms < 0 ? "back" : "forward", duration_format(far_ms * NS_PER_MS, text));
	j->started_unix_ms = began_ms;
}

void recorder_warning(struct recorder *k, const struct job *j, const char *kind, const char *text)
{
	recorder_event(k, j, kind, NULL, "%s", text);
	notifier_warning(k->notifier, j->id, j->node, kind, text);
}

void recorder_incident_id(struct recorder *k, const char *job_id, char *dst, size_t cap)
{
	(void)text_format(dst, cap, "%s.%u", job_id, ++k->incidents);
}

static int incident_dir(const struct recorder *k, char *dst, size_t cap)
{
	if (k->job_dir[0] == '\0')
		return -ENOENT;
	(void)text_format(dst, cap, "%s/incidents", k->job_dir);
	return private_mkdirs(dst);
}

static int incident_path(const struct recorder *k, const char *id, const char *suffix, char dst[static PATH_MAX])
{
	char dir[300];
	int r = incident_dir(k, dir, sizeof(dir));
	if (r == 0)
		(void)text_format(dst, PATH_MAX, "%s/%s.%s", dir, id, suffix);
	return r;
}

/* Masks the incident as well, which is shown and sent next. */
static struct js *incident_json(struct incident *i, const struct attachments *a)
{
	incident_mask(i);
	struct js *j = report_json(i);
	if (a)
		attachments_put(a, j);
	js_change_texts(j, mask_text);
	return j;
}

void recorder_skeleton(struct recorder *k, struct incident *i, const struct attachments *a)
{
	char path[PATH_MAX];
	cleanup(js_freep) struct js *j = incident_json(i, a);
	cleanup(freep) char *text = js_text(j, 0);
	if (!text || incident_path(k, i->id, "json", path) < 0)
		return;
	/* whole or not at all: it is what the next vigil has if all of this one is killed now */
	char part[PATH_MAX + 8];
	TEXT_FORMAT(part, "%s.part", path);
	cleanup(closep) int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, private_file());
	if (fd >= 0 && file_write_all(fd, text, strlen(text)) == 0)
		ignore(rename(part, path), "the full report follows");
}

void recorder_skeleton_drop(struct recorder *k, const char *id)
{
	char path[PATH_MAX];
	const char *number = strrchr(id, '.');
	uint64_t n;
	if (!number || incident_path(k, id, "json", path) < 0)
		return;
	(void)unlink(path);
	if (span_u64(span_of(number + 1), &n) == 0 && n == k->incidents)
		k->incidents--; /* the number is used again */
}

void recorder_wakers(struct recorder *k, const char *text, size_t len)
{
	char path[PATH_MAX], part[PATH_MAX + 8];
	if (!k->job_dir[0])
		return;
	TEXT_FORMAT(path, "%s/wakers", k->job_dir);
	TEXT_FORMAT(part, "%s.part", path);
	cleanup(closep) int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, private_file());
	if (fd >= 0 && file_write_all(fd, text, len) == 0)
		ignore(rename(part, path), "vigil waits then names fewer");
}

static int write_text(const struct incident *i, const struct js *all, const char *path)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	if (!f)
		return -errno;
	report_text(i, REPORT_PLAIN, f);
	report_hang_text(js_get(all, "hang"), REPORT_PLAIN, f);
	report_heap_text(js_get(all, "heap"), REPORT_PLAIN, f);
	report_stacks_text(all, REPORT_PLAIN, f);
	int r = fclose(f) == 0 ? file_replace(path, text, len, private_file()) : -EIO;
	free(text);
	return r;
}

/* Into its two files and the store. */
static void incident_write(struct recorder *k, const struct incident *i, const struct js *j)
{
	char path[PATH_MAX];
	cleanup(freep) char *text = js_text(j, 0);
	if (!text)
		return;
	int r = incident_path(k, i->id, "json", path);
	if (r == 0)
		r = file_replace(path, text, strlen(text), private_file());
	if (r == 0 && (r = incident_path(k, i->id, "txt", path)) == 0)
		r = write_text(i, j, path);
	if (r < 0 && k->job_dir[0])
		complain(k, "the report", r);
	const struct store_incident row = {
		.id = i->id,
		.job = i->job,
		.attempt = i->attempt,
		.kind = incident_kind_name(i->kind),
		.time_unix_ms = i->time_unix_ms,
		.victim_pid = i->victim.valid ? i->victim.pid : 0,
		.summary = i->summary,
		.json = text,
	};
	recorder_put(k, ROWLOG_INCIDENT, &row, "the report");
	if (k->ear)
		k->ear->incident(k->ear_ctx, i);
}

void recorder_incident(struct recorder *k, struct incident *i, const struct attachments *a, bool notify)
{
	cleanup(js_freep) struct js *j = incident_json(i, a);
	incident_write(k, i, j);
	if (notify)
		notifier_incident(k->notifier, i);
}

/* What the incident itself does not have (stacks, the heap) is taken over. */
static int missing_copy(void *ctx, const char *key, const struct js *value)
{
	struct js *to = ctx, *copy;
	cleanup(freep) char *text = js_get(to, key) ? NULL : js_text(value, 0);
	if (text && js_parse(text, strlen(text), &copy, NULL) == 0)
		js_put(to, key, copy);
	return 0;
}

bool recorder_amend(struct recorder *k, const char *id, bool (*fn)(void *ctx, struct incident *in), void *ctx)
{
	static struct incident in; /* large */
	char path[PATH_MAX];
	cleanup(freep) char *text = NULL;
	cleanup(js_freep) struct js *old = NULL;
	size_t len;
	if (incident_path(k, id, "json", path) < 0 || file_slurp(AT_FDCWD, path, REPORT_MOST, &text, &len) != 0 ||
	    js_parse(text, len, &old, NULL) < 0 || report_from_json(old, &in) < 0 || !fn(ctx, &in))
		return false;
	cleanup(js_freep) struct js *j = incident_json(&in, NULL);
	ignore(js_each(old, missing_copy, j), "it goes on to the end");
	incident_write(k, &in, j);
	return true;
}

void recorder_report_path(const struct recorder *k, const char *incident_id, char *dst, size_t cap)
{
	dst[0] = '\0';
	char path[PATH_MAX];
	if (incident_path(k, incident_id, "txt", path) == 0 && access(path, R_OK) == 0)
		(void)text_format(dst, cap, "%s", path);
}

int recorder_log_open(struct recorder *k, uint32_t attempt, int32_t rank, const char *suffix)
{
	char dir[320], path[400];
	if (k->job_dir[0] == '\0')
		return -1;
	TEXT_FORMAT(dir, "%s/attempt-%u", k->job_dir, attempt);
	int r = private_mkdirs(dir);
	int fd = -1;
	if (r == 0) {
		TEXT_FORMAT(path, "%s/rank-%d.%s", dir, rank, suffix);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, private_file());
		r = fd < 0 ? -errno : 0;
	}
	if (r < 0)
		complain(k, "the job's output", r);
	return fd;
}

int recorder_log_again(const struct recorder *k, uint32_t attempt, int32_t rank, const char *suffix)
{
	char path[400];
	TEXT_FORMAT(path, "%s/attempt-%u/rank-%d.%s", k->job_dir, attempt, rank, suffix);
	return open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
}
