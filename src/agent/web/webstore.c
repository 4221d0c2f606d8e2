#include <string.h>
#include <sys/stat.h>

#include "agent/jobs/joblife.h"
#include "agent/jobs/livefollows.h"
#include "agent/jobs/past.h"
#include "agent/web/web.h"
#include "base/buf.h"
#include "base/clock.h"
#include "sense/proc/proc.h"
#include "tell/store/storelast.h"

/* Rows that are lent are copies, read again so often. A store that cannot be opened is tried again so often. */
#define LENT_NS (10 * NS_PER_S)
#define RETRY_NS (1 * NS_PER_S)

void web_store_close(struct web *w)
{
	w->store = store_close(w->store);
	w->store_opened_ns = 0;
}

static bool is_replaced(const struct web *w)
{
	char path[320];
	struct stat st;
	TEXT_FORMAT(path, "%s/" STORE_FILE, w->want->state_dir);
	bool there = stat(path, &st) == 0;
	if (!w->store || w->store_lent)
		return false; /* tried again after a time */
	return there ? st.st_dev != w->store_dev || st.st_ino != w->store_ino : true;
}

static void store_note(struct web *w)
{
	char path[320];
	struct stat st;
	TEXT_FORMAT(path, "%s/" STORE_FILE, w->want->state_dir);
	bool there = stat(path, &st) == 0;
	if (there && (st.st_dev != w->store_dev || st.st_ino != w->store_ino))
		w->store_turn++;
	w->store_dev = there ? st.st_dev : 0;
	w->store_ino = there ? st.st_ino : 0;
}

struct store *web_store(struct web *w)
{
	uint64_t now_ns = clock_mono_ns(), age_ns = now_ns - w->store_opened_ns;
	struct fault f = {.text = ""};
	bool old = w->store ? w->store_lent && age_ns > LENT_NS : age_ns > RETRY_NS;
	if (w->store_opened_ns > 0 && !old && !is_replaced(w))
		return w->store;
	w->store = store_close(w->store);
	w->store_lent = false;
	w->store_opened_ns = now_ns;
	store_note(w);
	int r = w->want->open_store(w->want->ctx, &w->store, &w->store_lent, &f);
	w->store_error = r < 0 ? r : 0;
	TEXT_COPY(w->store_text, f.text);
	return w->store;
}

struct store *web_store_or_fail(const struct webcall *c)
{
	struct store *s = web_store(c->web);
	if (!s && c->web->store_error)
		web_fail(c, 503, "store", "%s", c->web->store_text);
	else if (!s)
		web_fail(c, 404, "absent", "no job has been recorded in %s yet; start one with 'vigil run -- COMMAND'",
			 c->web->want->state_dir);
	return s;
}

void web_job_refresh(const struct web *w, struct job *j)
{
	if (joblife_is_lost(&w->world, j))
		j->state = JOB_LOST;
}

void web_job_now(struct web *w, struct job *j)
{
	web_job_refresh(w, j);
	if (!job_is_open(j))
		return;
	w->lives = w->lives ? w->lives : livefollows_new();
	const struct live_state *live = livefollows_state(w->lives, j);
	if (live)
		live_job(live, j);
}

bool web_job(const struct webcall *c, struct job *ret)
{
	struct store *s = web_store_or_fail(c);
	if (!s)
		return false;
	int r = store_find_job(s, c->route.id, ret);
	if (r == STORE_NONE)
		web_fail(c, 404, "absent", "there is no job '%s' in %s", c->route.id, c->web->want->state_dir);
	else if (r < 0)
		web_store_failed(c, r, "the job");
	else
		web_job_now(c->web, ret);
	return r == 0;
}

struct same {
	struct proc_id id;
};

static int same_take(void *ctx, const struct job_process *p)
{
	const struct same *s = ctx;
	return p->pid == s->id.pid && p->start_ticks == s->id.start_ticks;
}

/* True if this very process is one of the job's: a number alone may be a stranger's by now. */
static bool job_runs(const struct webcall *c, const struct job *j, const struct proc_stat *st)
{
	struct job_process p;
	struct same same = {{st->pid, st->start_ticks}};
	return store_each_process(c->web->store, j->id, same_take, &same) == STORE_STOPPED ||
	       (job_is_open(j) && past_find_running(&c->web->world, j, st->pid, &p));
}

bool web_job_has(const struct webcall *c, const struct job *j, pid_t pid)
{
	struct job found;
	struct proc_stat st;
	if (proc_stat_read(&c->web->world, pid, &st) == 0)
		return job_runs(c, j, &st);
	return store_find_job_of_pid(c->web->store, pid, &found) == 0 && strcmp(found.id, j->id) == 0;
}

struct owner {
	const struct webcall *call;
	const struct proc_stat *st;
};

static int owner_take(void *ctx, const struct job *j)
{
	const struct owner *o = ctx;
	return job_is_open(j) && job_runs(o->call, j, o->st);
}

bool web_may_look(const struct webcall *c, pid_t pid)
{
	struct proc_status status;
	struct proc_stat st;
	struct store *s = web_store(c->web);
	if (proc_status_read(&c->web->world, pid, &status) != 0 || proc_stat_read(&c->web->world, pid, &st) != 0) {
		web_fail(c, 404, "absent", "there is no process %d", (int)pid);
		return false;
	}
	if (status.uid == geteuid() && geteuid() != 0)
		return true;
	if (s && store_each_job(s, 0, owner_take, &(struct owner){c, &st}) == STORE_STOPPED)
		return true;
	web_fail(c, 403, "forbidden", "process %d is of no job that vigil watches here", (int)pid);
	return false;
}

int web_last_event(struct store *s, uint64_t *ret)
{
	struct job_event last;
	int r = store_last_event(s, NULL, &last);
	if (r >= 0)
		*ret = r == STORE_NONE ? 0 : last.seq;
	return r < 0 ? r : 0;
}
