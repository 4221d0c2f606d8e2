#include "cli/heap/heap_source.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/jobs/profilenote.h"
#include "base/buf.h"
#include "base/clock.h"
#include "cli/heap/heap_growth.h"
#include "cli/options/commands.h"
#include "cli/screen/stopkey.h"

/* Time limit for reading which pages of live blocks are in memory: enough for some ten thousand blocks. */
#define RESIDENT_NS (300 * NS_PER_MS)

void heap_source_done(struct heap_source *s)
{
	s->set = heapset_free(s->set);
}

int heap_status(int r)
{
	switch (r) {
	case 0:
		return 0;
	case SUBJECT_NONE:
	case HEAPREAD_NONE:
	case -ENOENT:
	case WORLD_GONE:
		return EXIT_ABSENT;
	case -EACCES:
	case -EPERM:
	case WORLD_DENIED:
		return EXIT_DENIED;
	default:
		return EXIT_PROBLEM;
	}
}

bool heap_source_runs(const struct heap_source *s)
{
	size_t n;
	const struct heapset_process *p = heapset_processes(s->set, &n);
	for (size_t i = 0; i < n; i++)
		if (p[i].life == HEAPSET_RUNNING || p[i].life == HEAPSET_SAVED)
			return true;
	return false;
}

static void notes_copy(struct heap_source *s, const struct heapload_loaded *l)
{
	for (size_t i = 0; i < l->n_remarks && s->n_notes < HEAP_NOTES; i++)
		TEXT_COPY(s->notes[s->n_notes++], l->remarks[i]);
}

static int duration_check(uint64_t ns, struct fault *f)
{
	if (ns != UINT64_MAX && (ns < GROWTH_SHORTEST_NS || ns > GROWTH_LONGEST_NS))
		return fault_set(f, -EINVAL, "--duration: expected 0.1 seconds to 24 hours");
	return 0;
}

int heap_source_growth(struct heap_source *s, const char *what, struct fault *f)
{
	struct stat st;
	struct subject subject;
	if (s->warn || s->has_attempt)
		return fault_set(f, -EINVAL,
				 "--what growth watches what runs: --warn and --attempt are about the past");
	if (duration_check(s->duration_ns, f) < 0)
		return -EINVAL;
	const uint64_t began_ns = clock_mono_ns();
	const uint64_t usual_ns = 5 * NS_PER_S, asked_ns = s->duration_ns;
	int r = subject_find(s->world, s->state, what, &subject, f);
	if (r && stat(what, &st) == 0)
		return fault_set(f, -EINVAL, "%s is a file: --what growth takes a JOB or PID that runs", what);
	if (r)
		return r;
	TEXT_COPY(s->name.title, subject.text);
	TEXT_COPY(s->name.key, subject.key);
	r = heap_growth_load(s->world, &subject, asked_ns == UINT64_MAX ? usual_ns : asked_ns, &s->set, s->notes[0], f);
	s->n_notes = r == 0 && s->notes[0][0];
	if (r == 0 && subject.is_job)
		profilenote_keep(s->state, subject.job.id, PROFILENOTE_GROWTH, clock_mono_ns() - began_ns);
	return r;
}

/* what: number of a process that was attached to and has ended. f is changed only if there is a profile. */
static int load_dead(struct heap_source *s, const char *what, const struct heapload_want *want,
		     struct heapload_loaded *ret, struct heap_name *name, struct fault *f)
{
	uint64_t pid;
	if (span_u64(span_of(what), &pid) < 0 || pid == 0 || pid > INT32_MAX)
		return HEAPREAD_NONE;
	int r = heapload_dead(s->world, (pid_t)pid, want, ret, f);
	TEXT_FORMAT(name->title, "process %s", what);
	TEXT_FORMAT(name->key, "pid-%s", what);
	return r;
}

int heap_source_load(struct heap_source *s, const char *what, struct heapset **ret, struct heap_name *name,
		     struct fault *f)
{
	struct stat st;
	struct subject subject;
	const struct heapload_want want = {
		.state = s->state,
		.resident_ns = RESIDENT_NS,
		.has_attempt = s->has_attempt,
		.attempt = s->attempt,
		.warn = s->warn,
	};
	struct heapload_loaded loaded = {.set = NULL};
	struct fault none = {.text = ""};
	int r;
	/* a job goes before a file of the same name; "./NAME" means the file */
	bool named = !strchr(what, '/') && subject_find(s->world, s->state, what, &subject, &none) == 0;
	if (!named && stat(what, &st) == 0) {
		r = heapload_path(s->world, what, &want, &loaded, f);
		TEXT_COPY(name->title, what);
		TEXT_COPY(name->key, "file");
	} else {
		r = named ? 0 : subject_find(s->world, s->state, what, &subject, f);
		if (r == SUBJECT_NONE && load_dead(s, what, &want, &loaded, name, f) == 0) {
			notes_copy(s, &loaded);
			*ret = loaded.set;
			return 0;
		}
		if (r)
			return r;
		r = subject.is_job ? heapload_job(s->world, &subject.job, &want, &loaded, f)
				   : heapload_pid(s->world, subject.pid, &want, &loaded, f);
		TEXT_COPY(name->title, subject.text);
		TEXT_COPY(name->key, subject.key);
	}
	if (r)
		return r;
	notes_copy(s, &loaded);
	*ret = loaded.set;
	return 0;
}

int heap_source_sample(struct heap_source *s, const char *what, const struct heap_switch *attach, struct fault *f)
{
	const uint64_t leaks_show_ns = 180 * NS_PER_S;
	struct subject subject;
	const struct heap_switch back = {.detach = true, .rate = UINT64_MAX};
	struct fault none = {.text = ""};
	if (s->what == HEAPSET_GROWTH)
		return fault_set(f, EXIT_USAGE, "--what growth watches without a sampler; leave --attach out");
	if (duration_check(s->duration_ns, f) < 0)
		return EXIT_USAGE;
	if (heap_source_load(s, what, &s->set, &s->name, &none) == 0 && heap_source_runs(s))
		return 0;
	s->set = heapset_free(s->set);
	s->n_notes = 0;
	int r = subject_find(s->world, s->state, what, &subject, f);
	const volatile bool *stop = stopkey_begin(true);
	int status = r ? heap_status(r) : heap_switch_run(s->world, s->state, &subject, attach);
	if (status) {
		if (r == 0 && subject.is_job) /* others of its processes may have got it */
			(void)heap_switch_run(s->world, s->state, &subject, &back);
		return status;
	}
	heap_wait(s->duration_ns, subject.pid, stop);
	r = heap_source_load(s, what, &s->set, &s->name, f);
	if (kill(subject.pid, 0) == 0)
		(void)heap_switch_run(s->world, s->state, &subject, &back); /* what went wrong has been said */
	s->brief = s->duration_ns < leaks_show_ns;
	if (r == 0 && s->brief && s->what == HEAPSET_LEAKS && s->n_notes < HEAP_NOTES)
		TEXT_COPY(s->notes[s->n_notes++], "what was asked for in this time and is held at its end; which of "
						  "it is a leak takes minutes to show");
	return r ? heap_status(r) : 0;
}

