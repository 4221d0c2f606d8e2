#include "cli/view.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "agent/host/host.h"
#include "agent/host/world_open.h"
#include "agent/incident/leftover.h"
#include "agent/incident/unstored.h"
#include "agent/jobs/joblife.h"
#include "agent/memory/pss.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/nearest.h"
#include "cli/state.h"
#include "sense/proc/proc.h"

static struct textout terminal(void)
{
	struct textout p = {.to = stdout};
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	p.width = textout_width(stdout);
	if (p.width == 0)
		return p;
	p.colour = (!no_color || !*no_color) && term && strcmp(term, "dumb") != 0;
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

/* Smaller processes are not worth a look at how their pages are shared. */
#define OWN_LEAST_BYTES (4 * MIB)
#define OWN_BUDGET_NS (3 * NS_PER_S)

/* Lowers own_bytes to the process's part of what it shares with forks, while the command has time for that. */
static void own_read(const struct view *v, struct job_process *p)
{
	static struct footprint_row row; /* large */
	static struct world kept; /* a thread that is stuck in the kernel outlives the view */
	static uint64_t spent_ns;
	uint64_t began_ns = v->world.mono_ns();
	if (p->own_bytes < OWN_LEAST_BYTES || spent_ns >= OWN_BUDGET_NS)
		return;
	kept = v->world;
	row = (struct footprint_row){.pid = p->pid, .own_bytes = p->own_bytes};
	ignore(pss_read(&kept, &row, 1, OWN_BUDGET_NS - spent_ns), "then it is resident less shared");
	spent_ns += v->world.mono_ns() - began_ns;
	p->own_bytes = row.own_bytes;
}

bool view_process_now(const struct view *v, struct job_process *p)
{
	struct proc_status s;
	if (!v->has_world || p->ended_unix_ms > 0 || !joblife_runs(&v->world, p->pid, p->start_ticks))
		return false;
	if (proc_status_read(&v->world, p->pid, &s) == 0 && s.has_memory) {
		p->rss_bytes = s.rss_bytes;
		p->shared_bytes = add_cap(s.rss_file_bytes, s.rss_shmem_bytes);
		p->own_bytes = sub_floor(s.rss_bytes, p->shared_bytes);
		p->swap_bytes = s.swap_bytes;
		own_read(v, p);
		if (p->peak_own_bytes > 0) /* 0: it was not measured while it ran, so its memory now is no peak */
			p->peak_own_bytes = MAX(p->peak_own_bytes, p->own_bytes);
	}
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
		log_error("no job in %s has or had a process %s, or that name; 'vigil jobs' lists the jobs", v->state,
			  text);
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

/* Time since the supervisor of a job that runs here began, by a clock that cannot be set. False: not known. */
static bool lived_here(const struct job *j, uint64_t *ret_ns)
{
	char node[sizeof(j->node)];
	uint64_t ticks_per_s = (uint64_t)sysconf(_SC_CLK_TCK), now_ns = clock_boot_ns();
	uint64_t began_ns = j->supervisor_start_ticks * (NS_PER_S / ticks_per_s);
	host_name(node, sizeof(node));
	if (j->ended_unix_ms > 0 || j->adopted || began_ns == 0 || began_ns > now_ns || strcmp(node, j->node) != 0)
		return false;
	*ret_ns = now_ns - began_ns;
	return true;
}

char *view_ran(const struct job *j, int64_t now_unix_ms, char dst[static 24])
{
	int64_t end = j->ended_unix_ms > 0 ? j->ended_unix_ms : now_unix_ms;
	uint64_t lived_ns;
	if (j->state != JOB_LOST && lived_here(j, &lived_ns))
		return duration_format(lived_ns, dst);
	if (j->started_unix_ms <= 0 || end < j->started_unix_ms || (j->state == JOB_LOST && j->ended_unix_ms <= 0))
		return text_copy(dst, 24, "-"); /* the end of a lost job was not seen */
	return duration_format((uint64_t)(end - j->started_unix_ms) * NS_PER_MS, dst);
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

int view_words(const char *command, int argc, char **argv, int most)
{
	if (argc <= most)
		return 0;
	log_error("vigil %s: '%s' is one word too many; 'vigil %s --help' shows how it is called", command, argv[most],
		  command);
	return EXIT_USAGE;
}
