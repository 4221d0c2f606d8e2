#include "cli/stacks/recording.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/jobs/profilenote.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/foreign_path.h"
#include "base/log.h"
#include "base/units.h"
#include "cli/options/commands.h"
#include "cli/options/state.h"
#include "cli/screen/stopkey.h"
#include "cli/screen/view.h"
#include "tell/stacks/flame.h"
#include "tell/store/store.h"

/* A recording of a day with every line apart is some ten megabytes. */
#define RECORDING_MAX (2 * GIB)

static void progress(void *ctx, const struct profile_progress *p)
{
	char bar[21], line[200];
	(void)ctx;
	uint64_t done = p->duration_ns ? p->elapsed_ns * 20 / p->duration_ns : 20;
	for (size_t i = 0; i < 20; i++)
		bar[i] = i < done ? '#' : '.';
	bar[20] = '\0';
	TEXT_FORMAT(line, "recording [%s] %.1f of %.1f s, %llu samples, %zu %s, %zu %s", bar,
		    (double)p->elapsed_ns / 1e9, (double)p->duration_ns / 1e9, (unsigned long long)p->samples,
		    p->processes, p->processes == 1 ? "process" : "processes", p->threads,
		    p->threads == 1 ? "thread" : "threads");
	view_progress_show(line);
}

/* The timeline shows when it was looked at. A store that cannot be written is no reason to fail. */
static void remember(const struct recording_want *want, const struct stackset *s)
{
	cleanup(store_closep) struct store *store = NULL;
	char state[256], note[256] = "";
	struct fault f = {.text = ""};
	const struct stackset_meta *m = stackset_meta_of(s);
	struct job_event e = {.time_unix_ms = m->start_unix_ms, .kind = "profile"};
	if (!want->subject->is_job || state_dir(want->state, state, sizeof(state), &f) < 0)
		return;
	TEXT_COPY(e.job, want->subject->job.id);
	e.attempt = want->subject->job.attempt;
	TEXT_FORMAT(e.text, "stacks recorded for %.1f s: %llu samples%s", (double)m->duration_ns / 1e9,
		    (unsigned long long)m->samples, m->native ? ", native frames too" : "");
	if (store_open(state, STORE_WRITE, &store, note, &f) == 0)
		ignore(store_add_event(store, &e, NULL), "the recording itself is what counts");
	if (store)
		ignore(profilenote_add(store, e.job, PROFILENOTE_CPU, m->duration_ns), "as above");
}

int recording_make(const struct world *w, const struct recording_want *want, struct stackset **ret, struct fault *f)
{
	bool shows = view_progress();
	const struct profile_want profile = {
		.members = want->members,
		.duration_ns = want->duration_ns,
		.rate_hz = want->rate_hz,
		.native = want->native,
		.children = want->children,
		.threads_apart = want->threads_apart,
		.stop = stopkey_begin(true),
		.progress = shows ? progress : NULL,
	};
	int r = profile_record(w, &profile, ret, f);
	if (shows)
		(void)fputs("\r\033[K", stderr);
	if (r)
		return r;
	TEXT_COPY(stackset_meta(*ret)->title, want->subject->text);
	remember(want, *ret);
	return 0;
}

int recording_status(const struct stackset *s, const struct subject *asked)
{
	const struct stackset_meta *m = stackset_meta_of(s);
	if (!m->subject_denied)
		return 0;
	log_error("process %d itself could not be read, and only its descendants are shown: %s", (int)asked->pid,
		  m->missing);
	return EXIT_DENIED;
}

int recording_load(const char *path, struct stackset **ret, struct fault *f)
{
	cleanup(freep) char *text = NULL;
	size_t len = 0;
	int r = foreign_path_slurp(path, RECORDING_MAX, &text, &len);
	if (r != 0)
		return fault_set(f, r < 0 ? r : -EINVAL, "cannot read %s: %s", path, foreign_path_why(r));
	struct fault inner = {.text = ""};
	r = flame_read(text, len, ret, &inner);
	return r ? fault_set(f, r, "%s: %s", path, inner.text[0] ? inner.text : strerror(-r)) : 0;
}

int recording_out_open(const char *path, const char *stem, const char *key, const char *suffix, bool text,
		       struct recording_out *ret, struct fault *f)
{
	*ret = (struct recording_out){.to = stdout};
	if ((!path && (text || !isatty(STDOUT_FILENO))) || (path && strcmp(path, "-") == 0))
		return 0;
	if (path)
		TEXT_COPY(ret->path, path);
	else
		TEXT_FORMAT(ret->path, "%s-%s.%s", stem, key, suffix);
	/*
	 * What is no plain file (a pipe, a device, a link such as /dev/stdout) is written into, and stays what it is.
	 */
	struct stat st;
	bool plain = lstat(ret->path, &st) != 0 || S_ISREG(st.st_mode);
	if (plain)
		TEXT_FORMAT(ret->beside, "%s.part-%d", ret->path, (int)getpid());
	if (plain)
		ignore(foreign_path_unlink(ret->beside), "as a rule there is none");
	ret->to = foreign_path_fopen(plain ? ret->beside : ret->path, plain);
	return ret->to ? 0 : fault_set(f, -errno, "cannot write %s: %s", ret->path, strerror(errno));
}

int recording_out_probe(const char *path, struct fault *f)
{
	struct recording_out out;
	struct stat st;
	if (!path || strcmp(path, "-") == 0 || (lstat(path, &st) == 0 && !S_ISREG(st.st_mode)))
		return 0;
	int r = recording_out_open(path, "", "", "", false, &out, f);
	return r ? r : recording_out_close(&out, false, f);
}

int recording_out_close(struct recording_out *o, bool keep, struct fault *f)
{
	errno = 0;
	bool bad = fflush(o->to) != 0 || ferror(o->to);
	int moved = 0, e = errno ? errno : EIO; /* a write before may have failed, and its reason is gone */
	if (o->to == stdout)
		return bad && e != EPIPE ? fault_set(f, -e, "cannot write the output: %s", strerror(e)) : 0;
	bad |= fclose(o->to) != 0;
	if (o->beside[0] && (bad || !keep))
		ignore(foreign_path_unlink(o->beside), "it has failed already, or is not wanted");
	else if (o->beside[0] && (moved = foreign_path_rename(o->beside, o->path)) != 0)
		bad = true, e = -moved;
	return bad ? fault_set(f, -e, "cannot write %s: %s", o->path, strerror(e)) : 0;
}

int recording_out_end(struct recording_out *o, int r, struct fault *f)
{
	struct fault ignored = {.text = ""};
	int e = recording_out_close(o, r == 0, r ? &ignored : f);
	if (r && !f->text[0])
		fault_set(f, r, "cannot write %s: %s", o->path[0] ? o->path : "the output", strerror(r < 0 ? -r : EIO));
	return r ? r : e;
}
