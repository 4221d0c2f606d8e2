#include "cli/subject.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "agent/host/world_open.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/state.h"
#include "tell/store/store.h"

static bool process_exists(const struct world *w, pid_t pid)
{
	char path[32];
	TEXT_FORMAT(path, "%d/stat", pid);
	return faccessat(w->proc_fd, path, F_OK, 0) == 0;
}

static int job_find(const char *state, const char *what, struct job *ret, struct fault *f)
{
	cleanup(store_closep) struct store *s = NULL;
	char note[256] = "";
	int r = store_open(state, STORE_READ, &s, note, f);
	if (r < 0)
		return r;
	if (r == 0)
		r = store_find_job(s, what, ret);
	if (r < 0)
		return fault_set(f, r, "cannot read the store in %s: %s", state, strerror(-r));
	return r == 0 ? 0 : SUBJECT_NONE;
}

int subject_find(const struct world *w, const char *state, const char *what, struct subject *ret, struct fault *f)
{
	struct subject s = {.is_job = false};
	uint64_t number = 0;
	bool is_number = span_u64(span_of(what), &number) == 0 && number > 0 && number <= INT_MAX;
	if (is_number && process_exists(w, (pid_t)number)) {
		s.pid = (pid_t)number;
		TEXT_FORMAT(s.text, "process %d and its descendants", s.pid);
		TEXT_FORMAT(s.key, "pid-%d", s.pid);
		*ret = s;
		return 0;
	}
	int r = job_find(state, what, &s.job, f);
	if (r < 0)
		return r;
	if (r == SUBJECT_NONE && is_number)
		return fault_set(f, r,
				 "there is no process %s, and no job of that name in %s; `vigil jobs` lists the jobs",
				 what, state);
	if (r == SUBJECT_NONE && strcmp(what, "last") == 0)
		return fault_set(f, r, "no job has been recorded in %s yet; start one with 'vigil run -- COMMAND'",
				 state);
	if (r == SUBJECT_NONE)
		return fault_set(
			f, r,
			"there is no job '%s' in %s; `vigil jobs` lists the jobs, a process is named by its number",
			what, state);
	s.is_job = true;
	s.pid = s.job.pid;
	TEXT_FORMAT(s.text, "job %s", s.job.id);
	TEXT_COPY(s.key, s.job.id);
	*ret = s;
	return 0;
}

int subject_open(const char *given, const char *what, struct world *ret_w, char *state, size_t cap, struct subject *ret)
{
	struct fault f = {.text = ""};
	if (world_open(NULL, ret_w, &f) < 0 || state_dir(given, state, cap, &f) < 0) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	int r = subject_find(ret_w, state, what, ret, &f);
	if (r)
		log_error("%s", f.text);
	return r == 0 ? 0 : r == SUBJECT_NONE ? EXIT_ABSENT : r == -EACCES ? EXIT_DENIED : EXIT_PROBLEM;
}
