#include "tell/host/speedshow.h"

#include <string.h>

#include "base/buf.h"
#include "tell/text/textout.h"

#define SPEEDSHOW_THREADS 64 /* the busiest that an object names of each process */

/* The letters of model/speed/speedfacts.h in words. */
static const struct speed_word {
	char letter;
	const char *word;
} words[] = {
	{SPEED_RUN, "running"}, {SPEED_GIL, "gil"},	    {SPEED_MUTEX, "mutex"}, {SPEED_LOCK, "lock"},
	{SPEED_SLEEP, "sleep"}, {SPEED_POLL, "poll"},	    {SPEED_PIPE, "pipe"},   {SPEED_SOCKET, "socket"},
	{SPEED_CHILD, "child"}, {SPEED_FILE, "file"},	    {SPEED_DISK, "disk"},   {SPEED_MEMORY, "memory"},
	{SPEED_GPU, "gpu"},	{SPEED_STOPPED, "stopped"}, {SPEED_WRITE, "write"}, {SPEED_OTHER, "unknown"},
};

static struct js *shares_json(const struct speedfacts *f, const struct speed_thread *t)
{
	struct js *j = js_object();
	for (size_t k = 0; k < ARRAY_SIZE(words) && f->n_sweeps; k++) {
		size_t n = 0;
		for (size_t i = 0; i < f->n_sweeps; i++)
			n += t->at[i] == words[k].letter;
		if (n)
			js_put_double(j, words[k].word, (double)n / (double)f->n_sweeps);
	}
	return j;
}

static struct js *thread_json(const struct speedfacts *f, const struct speed_thread *t)
{
	struct js *j = js_object();
	js_put_i64(j, "tid", t->tid);
	js_put_text(j, "name", t->comm);
	js_put_double(j, "run_cores", t->run);
	js_put_double(j, "queued_cores", t->queued);
	js_put_double(j, "system_cores", t->system);
	js_put_double(j, "switches_voluntary_per_s", t->voluntary);
	js_put_double(j, "switches_involuntary_per_s", t->involuntary);
	js_put_double(j, "page_faults_per_s", t->minor_faults);
	js_put(j, "time", shares_json(f, t));
	return j;
}

static struct js *process_json(const struct speedfacts *f, size_t i)
{
	struct js *j = js_object(), *threads = js_array();
	const struct speed_process *p = &f->process[i];
	size_t n = 0;
	js_put_i64(j, "pid", p->pid);
	js_put_text(j, "name", p->name);
	js_put_text(j, "role", role_name(p->role));
	if (p->called[0])
		js_put_text(j, "actor", p->called);
	js_put_u64(j, "own_bytes", p->own_bytes);
	js_put_double(j, "read_calls_per_s", p->reads);
	js_put_double(j, "write_calls_per_s", p->writes);
	if (p->children > 0)
		js_put_double(j, "children_seen_per_s", p->children);
	if (p->rank != NO_RANK)
		js_put_i64(j, "rank", p->rank);
	for (size_t k = 0; k < f->n_threads && n < SPEEDSHOW_THREADS; k++)
		if (f->thread[k].process == i) {
			js_add(threads, thread_json(f, &f->thread[k]));
			n++;
		}
	js_put(j, "threads", threads);
	return j;
}

static struct js *traffic_json(const struct speed_traffic *t)
{
	static const char *const sources[] = {NULL, "memory_controllers", "last_level_caches"};
	static const char *const whys[] = {"absent", "denied", "refused", "still"};
	struct js *j = js_object();
	if (t->source == SPEED_TRAFFIC_UNSEEN) {
		js_put_text(j, "unseen", whys[t->why]);
		return j;
	}
	js_put_text(j, "source", sources[t->source]);
	js_put_double(j, "bytes_per_s", t->bytes);
	js_put_bool(j, "at_least", t->least);
	if (t->reads + t->writes > 0) {
		js_put_double(j, "read_bytes_per_s", t->reads);
		js_put_double(j, "write_bytes_per_s", t->writes);
	}
	if (t->limit_bytes > 0) {
		js_put_double(j, "limit_bytes_per_s", t->limit_bytes);
		js_put_u64(j, "channels", t->channels);
	}
	if (t->parts > 1) {
		js_put_u64(j, "parts", t->parts);
		js_put_double(j, "busiest_part_bytes_per_s", t->part_bytes);
	}
	if (t->has_job)
		js_put_double(j, "job_bytes_per_s", t->job_bytes);
	return j;
}

struct js *speedshow_json(const struct speedshow *s)
{
	const struct speedfacts *f = s->facts;
	struct js *j = js_object(), *processes = js_array();
	js_put_double(j, "seconds", f->watched_s);
	js_put_u64(j, "sweeps", f->n_sweeps);
	js_put_double(j, "run_cores", s->run);
	js_put_double(j, "queued_cores", s->queued);
	js_put_double(j, "wanted_cores", s->wanted);
	js_put_double(j, "room_cores", s->room);
	js_put_u64(j, "cpus", f->machine.job_cpus);
	js_put_u64(j, "machine_cpus", f->machine.cpus);
	if (f->machine.has_running)
		js_put_double(j, "machine_wanted_cores", f->machine.running);
	if (f->n_denied)
		js_put_u64(j, "denied", f->n_denied);
	js_put_bool(j, "cut", f->cut);
	js_put(j, "memory_traffic", traffic_json(&f->machine.traffic));
	for (size_t i = 0; i < f->n_processes; i++)
		js_add(processes, process_json(f, i));
	js_put(j, "processes", processes);
	return j;
}

/* The calls of threads that run may not be seen everywhere. */
static bool saw_calls(const struct speedfacts *f)
{
	for (size_t i = 0; i < f->n_threads; i++)
		if (f->thread[i].caught > 0)
			return true;
	return false;
}

/* Why what memory moves was not seen; "": there is no more to say. */
static const char *traffic_why(const struct speed_traffic *t)
{
	switch (t->why) {
	case SPEED_TRAFFIC_DENIED:
		return " (counting it is not permitted)";
	case SPEED_TRAFFIC_REFUSED:
		return " (the kernel refused to count it)";
	case SPEED_TRAFFIC_STILL:
		return " (its counters stand still)";
	case SPEED_TRAFFIC_ABSENT:
		break;
	}
	return " (nothing here counts it)";
}

static void traffic_text(const struct textout *p, const struct speed_traffic *t)
{
	char limit[160] = "; what it could move at most is not known here";
	if (t->source == SPEED_TRAFFIC_UNSEEN)
		return;
	if (t->limit_bytes > 0)
		TEXT_FORMAT(limit, ", of %.1f at most (%u channel%s at the speed that the firmware names)",
			    t->limit_bytes / 1e9, t->channels, t->channels == 1 ? "" : "s");
	textout_text(p, 0, "The memory of the machine moved %s%.1f GB a second%s%s.", t->least ? "at least " : "",
		     t->bytes / 1e9, t->source == SPEED_TRAFFIC_CACHES ? " to and from the processors" : "", limit);
}

void speedshow_text(const struct speedshow *s, FILE *to)
{
	const struct speedfacts *f = s->facts;
	const struct speed_machine *m = &f->machine;
	const struct textout p = {.to = to, .width = textout_width(to)};
	const bool unseen = m->traffic.source == SPEED_TRAFFIC_UNSEEN;
	textout_text(
		&p, 0,
		"Looked %zu times within %.1f s at %zu thread%s in %zu process%s: they used %.2f processors, wanted "
		"%.2f, and may use %.2f of %u.",
		f->n_sweeps, f->watched_s, f->n_threads, f->n_threads == 1 ? "" : "s", f->n_processes,
		f->n_processes == 1 ? "" : "es", s->run, s->wanted, s->room, m->cpus);
	textout_text(
		&p, 0,
		"Looked at: processors and quota, thread pools, Python's GIL, locks, loaders and workers, sleeping, "
		"disks and output, tiny reads, short-lived children, page faults, swap and memory, %s%s%sstolen time%s."
		" Not seen from outside: %s%s%scaches, and what a GPU does inside.",
		unseen ? "" : "memory bandwidth, ", m->has_clock ? "clocks, " : "",
		saw_calls(f) ? "busy waiting, " : "", m->nodes > 1 && m->has_remote ? ", NUMA nodes" : "",
		unseen ? "memory bandwidth" : "", unseen ? traffic_why(&m->traffic) : "", unseen ? ", " : "");
	traffic_text(&p, &m->traffic);
	if (f->n_denied)
		textout_text(&p, 0,
			     "Of %zu process%s it may not be read what %s for: be %s user, or root, to learn more.",
			     f->n_denied, f->n_denied == 1 ? "" : "es", f->n_denied == 1 ? "it waits" : "they wait",
			     f->n_denied == 1 ? "its" : "their");
	if (f->cut)
		textout_text(&p, 0, "There are more processes or threads than are looked at.");
}
