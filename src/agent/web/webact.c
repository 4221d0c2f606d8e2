#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "act/target.h"
#include "agent/jobs/pagesignal.h"
#include "agent/jobs/past.h"
#include "agent/web/web.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"

struct chosen {
	bool by_rank;
	int32_t rank;
	pid_t pid;
	uint32_t attempt;
	struct job_process found; /* pid 0: none */
};

static int chosen_take(void *ctx, const struct job_process *p)
{
	struct chosen *c = ctx;
	bool is_it = c->by_rank ? p->rank == c->rank && strcmp(p->role, "main") == 0 : p->pid == c->pid;
	if (is_it && p->attempt == c->attempt && p->ended_unix_ms == 0 &&
	    p->started_unix_ms >= c->found.started_unix_ms)
		c->found = *p;
	return 0;
}

/* ---- what is told of it ---- */

/* What the store did not take is tried again so often. */
#define LATER_NS (1 * NS_PER_S)
#define LATER_MOST 64

struct weblater {
	struct job_event of[LATER_MOST];
	size_t n;
	uint64_t next_ns;
};

static void later_add(struct web *w, const struct job_event *e)
{
	if (!w->later)
		w->later = calloc(1, sizeof(*w->later));
	if (!w->later || w->later->n == LATER_MOST) {
		log_warning("%s; it could not be stored", e->text);
		return;
	}
	w->later->of[w->later->n++] = *e;
	w->later->next_ns = clock_mono_ns() + LATER_NS;
}

/* s NULL: the store could not be opened. */
static void act_event(struct web *w, struct store *s, const struct job *j, const char *what)
{
	struct job_event e = {.time_unix_ms = clock_unix_ms(), .kind = "signal", .attempt = j->attempt};
	TEXT_COPY(e.job, j->id);
	TEXT_COPY(e.text, what);
	if (!s || store_add_event(s, &e, NULL) < 0)
		later_add(w, &e);
}

static void later_try(struct web *w)
{
	cleanup(store_closep) struct store *s = NULL;
	struct weblater *l = w->later;
	char note[256];
	struct fault f = {.text = ""};
	size_t n = 0;
	int r = store_open(w->want->state_dir, STORE_HASTE, &s, note, &f);
	while (r >= 0 && n < l->n && (r = store_add_event(s, &l->of[n], NULL)) >= 0)
		n++;
	memmove(&l->of[0], &l->of[n], (l->n - n) * sizeof(l->of[0]));
	l->n -= n;
	l->next_ns = clock_mono_ns() + LATER_NS;
}

int web_act_turn(struct web *w)
{
	if (!w->later || w->later->n == 0)
		return -1;
	if (clock_mono_ns() >= w->later->next_ns)
		later_try(w);
	return w->later->n > 0 ? (int)(sub_floor(w->later->next_ns, clock_mono_ns()) / NS_PER_MS) + 1 : -1;
}

void web_act_free(struct web *w)
{
	if (w->later && w->later->n > 0)
		later_try(w);
	for (size_t i = 0; w->later && i < w->later->n; i++)
		log_warning("%s; it could not be stored", w->later->of[i].text);
	free(w->later);
	w->later = NULL;
}

/* ---- the signal ---- */

/* In the store, for a vigil that knows no file, and in the job's folder, for which nobody can be in the way. */
static void act_note(const struct webcall *c, const struct job *j, struct store *s, const struct signal_sent *sent)
{
	struct stat st;
	const bool ours = stat(c->web->want->state_dir, &st) == 0 && st.st_uid == geteuid();
	const int stored = s ? pagesignal_put(s, j->id, sent) : -EBUSY;
	const int kept = ours ? pagesignal_keep(j->log_dir, sent) : -EPERM;
	if (stored < 0 && kept < 0)
		log_warning("a signal to pid %d from the page could not be noted: %s", (int)sent->target,
			    strerror(-kept));
}

static void act_unnote(const struct job *j, struct store *s, const struct signal_sent *sent)
{
	if (s)
		ignore(pagesignal_drop(s, j->id, sent), "nothing died of it");
	ignore(pagesignal_unkeep(j->log_dir, sent), "nothing died of it");
}

/* The note stands before the signal is sent, as the process may end at once. */
static int act_send(const struct webcall *c, const struct job *j, struct store *s, const struct job_process *p,
		    int number)
{
	struct target t = {.id = {p->pid, p->start_ticks}, .pidfd = -1};
	struct signal_sent sent = {.signal = number,
				   .target = p->pid,
				   .target_start_ticks = p->start_ticks,
				   .sender = getpid(),
				   .sender_uid = geteuid(),
				   .time_unix_ms = clock_unix_ms()};
	TEXT_COPY(sent.page_role, web_role_name(c->role));
	act_note(c, j, s, &sent);
	int r = target_open(&c->web->world, &t, true);
	if (r == 0)
		r = target_signal(&c->web->world, &t, number);
	target_close(&t);
	if (r != 0)
		act_unnote(j, s, &sent);
	return r;
}

static void act_signal(const struct webcall *c, const struct job *j, const struct job_process *p, int number)
{
	cleanup(store_closep) struct store *s = NULL;
	char text[200], who[80], note[256];
	struct fault f = {.text = ""};
	const char *name = number == SIGKILL ? "SIGKILL" : "SIGTERM";
	if (store_open(c->web->want->state_dir, STORE_HASTE, &s, note, &f) < 0)
		s = NULL;
	int r = act_send(c, j, s, p, number);
	if (r == WORLD_GONE)
		return web_fail(c, 409, "ended", "process %d has ended already", (int)p->pid);
	if (r != 0)
		return web_fail(c, 403, "forbidden", "process %d may not be signalled by the user of this server",
				(int)p->pid);
	TEXT_FORMAT(who, "%s (pid %d)", p->name, (int)p->pid);
	if (p->rank != NO_RANK)
		TEXT_FORMAT(who, "rank %d (%s, pid %d)", p->rank, p->name, (int)p->pid);
	TEXT_FORMAT(text, "%s was sent to %s from the page, by its %s", name, who, web_role_name(c->role));
	act_event(c->web, s, j, text);
	web_done(c);
}

void web_signal(const struct webcall *c)
{
	cleanup(js_freep) struct js *o = NULL;
	struct job j;
	if (js_parse(c->request->body, c->request->body_len, &o, NULL) < 0)
		return web_fail(c, 400, "bad_request",
				"the body must be {\"rank\" or \"pid\": N, \"signal\": \"TERM\"}");
	const char *name = js_get_text(o, "signal", "");
	int number = strcmp(name, "TERM") == 0 ? SIGTERM : strcmp(name, "KILL") == 0 ? SIGKILL : 0;
	int64_t rank = js_get_i64(o, "rank", -1), pid = js_get_i64(o, "pid", 0);
	int64_t ticks = js_get_i64(o, "start_ticks", 0);
	if (number == 0)
		return web_fail(c, 400, "bad_request", "signal: TERM or KILL is expected");
	if ((rank < 0) == (pid <= 0) || rank > INT32_MAX || pid > INT32_MAX)
		return web_fail(c, 400, "bad_request", "give one of rank and pid, a number");
	if (!web_job(c, &j))
		return;
	struct chosen chosen = {.by_rank = rank >= 0, .rank = (int32_t)rank, .pid = (pid_t)pid, .attempt = j.attempt};
	int r = store_each_process(c->web->store, j.id, chosen_take, &chosen);
	if (r < 0)
		return web_store_failed(c, r, "the processes");
	bool found = chosen.found.pid != 0;
	if (!found && pid > 0) /* a worker is in no store */
		found = past_find_running(&c->web->world, &j, chosen.pid, &chosen.found);
	if (!found || !job_is_open(&j))
		return web_fail(c, 404, "absent", "job %s runs no such process", j.id);
	if (ticks > 0 && (uint64_t)ticks != chosen.found.start_ticks)
		return web_fail(c, 409, "ended", "process %d is another one now than the one that was seen",
				(int)chosen.found.pid);
	act_signal(c, &j, &chosen.found, number);
}
