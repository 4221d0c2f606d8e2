#include "cli/screen/view.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "agent/host/world_open.h"
#include "agent/incident/leftover.h"
#include "agent/incident/unstored.h"
#include "agent/jobs/joblife.h"
#include "base/buf.h"
#include "base/columns.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/options/commands.h"
#include "cli/options/nearest.h"
#include "cli/options/state.h"

bool view_colour(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	return isatty(STDOUT_FILENO) && (!no_color || !*no_color) && term && strcmp(term, "dumb") != 0;
}

bool view_progress(void)
{
	const char *term = getenv("TERM");
	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

void view_progress_show(const char *text)
{
	const size_t width = columns_terminal(STDERR_FILENO);
	(void)fprintf(stderr, "\r%.*s\033[K", (int)(width > 0 ? width - 1 : 0), text);
	(void)fflush(stderr);
}

static struct textout terminal(void)
{
	struct textout p = {.to = stdout};
	p.width = textout_width(stdout);
	p.colour = p.width > 0 && view_colour();
	return p;
}

static int view_status(int r)
{
	switch (r) {
	case -EACCES:
	case -EPERM:
		return EXIT_DENIED;
	case STORE_NONE:
	case -ENOENT:
		return EXIT_ABSENT;
	default:
		return EXIT_PROBLEM;
	}
}

int view_failed(const struct view *v, int r, const char *what)
{
	if (r == -EBADMSG)
		log_error("cannot read %s: the store in %s is damaged; the next 'vigil run' moves it aside", what,
			  v->state);
	else
		log_error("cannot read %s from the store in %s: %s", what, v->state, strerror(r < 0 ? -r : EIO));
	return view_status(r);
}

int view_open(const char *state, struct view *ret)
{
	struct view v = {.paper = terminal()};
	struct fault f = {.text = ""}, no_world;
	char note[256];
	int r = state_dir(state, v.state, sizeof(v.state), &f);
	v.has_world = world_open(NULL, &v.world, &no_world) == 0;
	if (r == 0 && v.has_world)
		leftover_clear(&v.world, v.state);
	if (r == 0)
		unstored_take_up(v.state, NULL);
	if (r == 0)
		r = store_open(v.state, STORE_READ, &v.store, note, &f);
	if (r == 0 || r == STORE_NONE) {
		TEXT_COPY(v.none, f.text);
		state_lend(state, &v.store);
		if (!state_others(state, v.others, sizeof(v.others)))
			v.others[0] = '\0';
	} else {
		log_error("%s", f.text);
		view_done(&v);
		return view_status(r);
	}
	*ret = v;
	return 0;
}

void view_others(const struct view *v)
{
	if (v->others[0])
		log_info("%s", v->others);
}

void view_done(struct view *v)
{
	v->store = store_close(v->store);
	if (v->has_world)
		world_close(&v->world);
	v->has_world = false;
}

void view_refresh(const struct view *v, struct job *j)
{
	if (v->has_world && joblife_is_lost(&v->world, j))
		j->state = JOB_LOST;
}

bool view_live(struct job *j, struct live_state *ret)
{
	/* a supervisor that is stopped, or busy with a report, is not waited for longer */
	const uint64_t wait_ns = 300 * NS_PER_MS;
	cleanup(livefollow_closep) struct livefollow *f = NULL;
	live_done(ret);
	if (livefollow_open(j, &f) != 0 || livefollow_take(f, wait_ns) < 0 || !livefollow_state(f))
		return false;
	livefollow_give(&f, ret);
	live_job(ret, j);
	return true;
}

static int offer_job(void *ctx, const struct job *j)
{
	static char kept[64]; /* the nearest name must outlive the row */
	struct nearest *n = ctx;
	const char *before = n->best;
	nearest_offer(n, j->name);
	if (n->best == before)
		nearest_offer(n, j->id);
	if (n->best != before) {
		TEXT_COPY(kept, n->best);
		n->best = kept;
	}
	return 0;
}

static int no_such_job(const struct view *v, const char *text)
{
	struct nearest n = {.typed = text};
	uint64_t pid;
	if (strcmp(text, "last") == 0) {
		log_error("no job has been recorded in %s yet; start one with 'vigil run -- COMMAND'", v->state);
	} else if (span_u64(span_of(text), &pid) == 0) {
		/* Of a watched job not every process is recorded, so that none had it is not known. */
		log_error("nothing in %s tells of a process %s, and no job is called so; a job may have had it without "
			  "a record: 'vigil jobs' lists the jobs",
			  v->state, text);
	} else {
		int r = store_each_job(v->store, 1000, offer_job, &n);
		if (r == 0 && n.best)
			log_error("no job '%s' in %s; did you mean '%s'?", text, v->state, n.best);
		else
			log_error("no job '%s' in %s; 'vigil jobs' lists the jobs", text, v->state);
	}
	view_others(v);
	return EXIT_ABSENT;
}

int view_job(const struct view *v, const char *text, struct job *ret)
{
	struct job j;
	uint64_t pid;
	if (!v->store) {
		log_error("%s", v->none);
		view_others(v);
		return EXIT_ABSENT;
	}
	const char *name = text ? text : "last";
	int r = store_find_job(v->store, name, &j);
	if (r == STORE_NONE && span_u64(span_of(name), &pid) == 0 && pid <= INT32_MAX)
		r = store_find_job_of_pid(v->store, (pid_t)pid, &j);
	if (r == STORE_NONE)
		return no_such_job(v, name);
	if (r < 0)
		return view_failed(v, r, "the job");
	view_refresh(v, &j);
	*ret = j;
	return 0;
}

size_t view_rest(const struct view *v, size_t used)
{
	if (v->paper.width == 0)
		return VIEW_UNCUT;
	return v->paper.width > used + 8 ? v->paper.width - used : 8;
}

char *view_exit(bool known, int32_t wait_status, char dst[static 24])
{
	text_copy(dst, 24, "-");
	if (known && WIFEXITED(wait_status))
		(void)text_format(dst, 24, "exit %d", WEXITSTATUS(wait_status));
	else if (known && WIFSIGNALED(wait_status)) {
		const char *name = sigabbrev_np(WTERMSIG(wait_status));
		(void)text_format(dst, 24, name ? "SIG%s" : "signal %.0s%d", name ? name : "", WTERMSIG(wait_status));
	}
	return dst;
}

static const char *const ended_for[VIEW_ENDS] = {ENDED_FOR_RANK, ENDED_FOR_MEMORY, ENDED_FOR_HANG};

const char *view_ended(struct view_ends *e, const struct job_process *p, char dst[static 24])
{
	for (size_t i = 0; i < VIEW_ENDS; i++)
		if (strcmp(p->ended_for, ended_for[i]) == 0) {
			e->n[i]++;
			return "by vigil";
		}
	return p->has_status ? view_exit(true, p->wait_status, dst) : "gone";
}

void view_ends_print(const struct textout *p, const struct view_ends *e)
{
	for (size_t i = 0; i < VIEW_ENDS; i++)
		if (e->n[i] > 0)
			textout_text(p, 2, "by vigil: %u process%s %s.", e->n[i], e->n[i] == 1 ? "" : "es",
				     process_ended_words(ended_for[i]));
}

int view_words(const char *command, int argc, char **argv, int most)
{
	if (argc <= most)
		return 0;
	log_error("vigil %s: '%s' is one word too many; 'vigil %s --help' shows how it is called", command, argv[most],
		  command);
	return EXIT_USAGE;
}
