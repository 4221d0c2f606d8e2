/* Threads that hold each other up: the GIL, locks, more of them than processors. */
#include "base/buf.h"
#include "judge/speed/speed_parts.h"

/*
 * Who waits for the GIL looks up each 5 ms. Beside others it then waits for a processor first, and looks as if it could
 * run: this is the part of the time of such waits that follow its own rest, not the end of its time slice.
 */
static double wakes_in_vain(const struct speed_thread *t)
{
	const double switches = t->voluntary + t->involuntary;
	return switches > 0 ? t->queued * t->voluntary / switches : 0;
}

/* Part of the sweeps in which a thread of the process runs, or waits for the GIL, which somebody then has. */
static double someone_goes_on(const struct speedfacts *f, size_t process)
{
	size_t n = 0;
	for (size_t s = 0; s < f->n_sweeps; s++) {
		bool any = false;
		for (size_t i = 0; i < f->n_threads && !any; i++)
			any = f->thread[i].process == process &&
			      (f->thread[i].at[s] == SPEED_RUN || f->thread[i].at[s] == SPEED_GIL);
		n += any;
	}
	return f->n_sweeps ? (double)n / (double)f->n_sweeps : 0;
}

/* Python's lock lets one thread of a process run at a time. */
static void gil_turns(const struct speedview *v, size_t process, struct findings *all)
{
	double waiting = 0, wanting = 0, vain = 0, run = speed_run_of(v->f, process);
	size_t n = 0;
	char who[SPEED_WHO];
	for (size_t i = 0; i < v->f->n_threads; i++) {
		const struct speed_thread *t = &v->f->thread[i];
		if (t->process != process)
			continue;
		double w = speed_share(v->f, t, "G");
		if (w < 0.05)
			continue;
		waiting += w;
		wanting += w + speed_share(v->f, t, "R");
		vain += MIN(wakes_in_vain(t), speed_share(v->f, t, "R"));
		n++;
	}
	if (n < 2 || waiting < 0.25 || wanting < 1.2)
		return;
	const double rest = MAX(v->run - run, 0), seen = wanting - waiting;
	const double goes_on = MAX(seen - vain, MIN(seen, someone_goes_on(v->f, process)));
	double speedup = speed_fair(v, wanting + rest) / MAX(speed_has(v, MAX(goes_on, 0.5) + rest), 0.01);
	struct finding *f = speed_add(v, all, "gil-bound", "high", speedup, 0,
				      "%zu threads of %s take turns: Python lets one of them run at a time (the GIL)",
				      n, speed_who(&v->f->process[process], who));
	if (!f)
		return;
	finding_evidence(f, "on average %.1f of them wait for the GIL; together they use %.2f processors", waiting,
			 run);
	finding_advice(f, "use processes instead of threads for what is computed in Python (multiprocessing, "
			  "ProcessPoolExecutor, num_workers= of a loader), or a free-threaded Python");
}

struct turn {
	size_t n; /* threads that wait there and also run */
	double waiting, running;
	bool mutex;
	bool own; /* some were started by the program, not by a library */
	bool processes; /* they are of several */
};

/* A futex in shared memory is the same one in each process that was forked after it was made. */
static bool same_lock(const struct speedfacts *f, size_t a, size_t b)
{
	const struct speed_thread *x = &f->thread[a], *y = &f->thread[b];
	return x->lock == y->lock && (x->process == y->process || (x->lock_shared && y->lock_shared));
}

/* The threads that wait at the same place as thread i, and how often. */
static struct turn turn_of(const struct speedfacts *f, size_t i)
{
	struct turn t = {.n = 0};
	double mutex = 0;
	for (size_t k = 0; k < f->n_threads; k++) {
		const struct speed_thread *x = &f->thread[k];
		if (!same_lock(f, i, k))
			continue;
		double at_mutex = speed_share(f, x, "M"), wait = at_mutex + speed_share(f, x, "L");
		/* Without the waits for a processor, in which neighbours have several of them look busy at once. */
		double run = MIN(speed_share(f, x, "R"), x->run);
		/* Who has the lock takes it again before the other one has woken up: turns may be long. */
		if (wait < 0.05 || run < 0.03)
			continue;
		t.n++;
		t.own |= !x->lib && !x->lead;
		t.processes |= x->process != f->thread[i].process;
		t.waiting += wait;
		t.running += run;
		mutex += at_mutex;
	}
	t.mutex = mutex > 0.5 * t.waiting;
	return t;
}

/* Part of the sweeps in which at least one thread runs, of those that wait for the lock of thread i at other times. */
static double one_runs(const struct speedfacts *f, size_t i)
{
	size_t n = 0;
	for (size_t s = 0; s < f->n_sweeps; s++) {
		bool any = false;
		for (size_t k = 0; k < f->n_threads && !any; k++)
			any = f->thread[k].at[s] == SPEED_RUN && same_lock(f, i, k);
		n += any;
	}
	return (double)n / (double)f->n_sweeps;
}

static bool is_first_of_lock(const struct speedfacts *f, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_lock(f, i, k))
			return false;
	return true;
}

/* A library has started a thread that waits for the lock of thread i. */
static bool is_of_library(const struct speedfacts *f, size_t i)
{
	for (size_t k = 0; k < f->n_threads; k++)
		if (f->thread[k].lib && same_lock(f, i, k))
			return true;
	return false;
}

static void locks(const struct speedview *v, struct findings *all)
{
	const struct speedfacts *f = v->f;
	for (size_t i = 0; i < f->n_threads; i++) {
		if (f->thread[i].lock == 0 || !is_first_of_lock(f, i))
			continue;
		struct turn t = turn_of(f, i);
		/*
		 * At a mutex they wait for each other. Elsewhere they may wait for work, unless one always runs; and
		 * those of a library meet there.
		 */
		const bool meet = !t.mutex && !t.own && !t.processes && is_of_library(f, i);
		if (meet || t.n < 2 || t.waiting < 0.25 || t.running > 0.7 * (t.running + t.waiting) ||
		    (!t.mutex && (t.running > 1.15 || one_runs(f, i) < 0.9)))
			continue;
		double rest = MAX(v->run - t.running, 0);
		double speedup =
			speed_fair(v, t.running + t.waiting + rest) / MAX(speed_has(v, t.running + rest), 0.01);
		/* Neighbours make running look small: one of them runs or wants to at a time, so not more than all. */
		speedup = MIN(speedup, (double)t.n);
		char who[SPEED_WHO];
		struct finding *o = speed_add(v, all, "lock-contention", t.mutex ? "high" : "medium", speedup, 0,
					      "%zu threads of %s%s take turns at one lock", t.n,
					      speed_who(&f->process[f->thread[i].process], who),
					      t.processes ? " and of others" : "");
		if (!o)
			continue;
		finding_evidence(o, "%.1f of them run and %.1f wait at the same %s, on average", t.running, t.waiting,
				 t.mutex ? "mutex" : "futex");
		finding_advice(o,
			       "hold the lock for a shorter time, or give each thread its own part of the data; `vigil "
			       "stack %d --native` says where they wait",
			       f->process[f->thread[i].process].pid);
	}
}

/* The libraries of a process whose threads are busy: all that are loaded, where it is not known. */
static unsigned crowd_libs(const struct speedfacts *f, size_t process)
{
	unsigned most = 0, seen = 0;
	size_t most_n = 0, unknown = 0;
	for (size_t i = 0; i < f->n_threads; i++) {
		const struct speed_thread *t = &f->thread[i];
		if (t->process != process)
			continue;
		seen |= t->lib;
		unknown += !t->lib && !t->lead && speed_share(f, t, "R") >= 0.1;
	}
	for (unsigned bit = 1; bit && bit <= seen; bit <<= 1) {
		size_t n = 0;
		for (size_t i = 0; i < f->n_threads; i++)
			n += f->thread[i].process == process && f->thread[i].lib == bit &&
			     speed_share(f, &f->thread[i], "R") >= 0.1;
		if (n > most_n) {
			most = bit;
			most_n = n;
		}
	}
	const unsigned libs = f->process[process].libs;
	if (most_n > unknown)
		return threadlib_busy(libs, most);
	/* Whose threads can be seen has not started those that can not. */
	return libs & ~seen ? libs & ~seen : libs;
}

struct crowd {
	size_t n_processes, n_threads; /* that run side by side in libraries which start threads */
	size_t most; /* most busy threads of one process */
	size_t at; /* that process */
	unsigned libs; /* of it, whose threads are busy */
	double run, slices;
};

/* Busy threads of processes that have more than one of them and a library that starts them. */
static struct crowd crowd_of(const struct speedfacts *f)
{
	struct crowd c = {.at = SIZE_MAX};
	for (size_t p = 0; p < f->n_processes; p++) {
		size_t n = 0;
		double run = 0, slices = 0;
		for (size_t i = 0; i < f->n_threads && f->process[p].libs; i++) {
			const struct speed_thread *t = &f->thread[i];
			if (t->process != p || speed_share(f, t, "R") < 0.1)
				continue;
			n++;
			run += t->run;
			slices += t->slices;
		}
		if (n < 2)
			continue;
		c.n_processes++;
		c.n_threads += n;
		c.run += run;
		c.slices += slices;
		if (n > c.most) {
			c.most = n;
			c.at = p;
		}
	}
	c.libs = c.at != SIZE_MAX ? crowd_libs(f, c.at) : 0;
	return c;
}

/*
 * True: the program has set the number of threads by itself. No library starts more of them than its variable says or,
 * without one, than the machine has processors. A variable that Python sets in os.environ is the program's doing too.
 */
static bool asks_itself(const struct speed_machine *m, const struct speed_process *p, size_t busy)
{
	return busy > (p->set_threads ? p->set_threads : MAX(m->cpus, m->job_cpus));
}

static void crowd_evidence(const struct speedview *v, const struct crowd *c, struct finding *f)
{
	const struct speed_process *p = &v->f->process[c->at];
	const bool itself = asks_itself(&v->f->machine, p, c->most);
	finding_evidence(f, "a thread runs for %.2f ms before another takes its place, %.0f times a second in all",
			 c->slices > 0 ? c->run / c->slices * 1e3 : 0, c->slices);
	finding_evidence(f, "threads waited for a processor as long as %.2f would run; %.2f were used", v->queued,
			 v->run);
	if (p->set_threads)
		finding_evidence(f, "process %d was started with %u thread%s set in its environment%s", p->pid,
				 p->set_threads, p->set_threads == 1 ? "" : "s",
				 itself ? "; the program itself asks for more" : "");
	else if (itself)
		finding_evidence(
			f, "no variable in the environment of process %d says so: the program itself asks for them",
			p->pid);
}

static void crowd_advice(const struct speedview *v, const struct crowd *c, struct finding *f)
{
	const struct speed_process *p = &v->f->process[c->at];
	const uint32_t cores = MAX(v->f->machine.job_cores, 1u);
	const uint32_t each = (uint32_t)MAX(cores / MAX(c->n_processes, 1u), 1u);
	char whom[80] = "";
	if (c->n_processes > 1)
		TEXT_FORMAT(whom, " for each of the %zu processes, so that processes times threads are %u",
			    c->n_processes, cores);
	if (asks_itself(&v->f->machine, p, c->most))
		finding_advice(f,
			       "the call to change is %s, with %u%s: it goes before the variables; a variable that the "
			       "program sets in os.environ counts as well",
			       threadlib_call(c->libs), each, whom);
	else
		finding_advice(f, "set %s to %u%s; `vigil run --threads auto` does", threadlib_remedy(c->libs), each,
			       whom);
}

static void oversubscribed(const struct speedview *v, struct findings *all)
{
	const struct speed_machine *m = &v->f->machine;
	struct crowd c = crowd_of(v->f);
	if (c.n_processes == 0 || v->wanted < v->cpus * 1.4 || (double)c.n_threads < v->cpus * 1.4 || speed_starved(v))
		return;
	const bool several = c.n_processes > 1;
	struct finding *f = speed_add(
		v, all, "oversubscribed", "high", 0, -0.5,
		"%.1f threads want to run at once on %u processor%s: %zu process%s with %s%zu busy threads%s, "
		"which wait for one another inside %s",
		v->wanted, m->job_cpus, m->job_cpus == 1 ? "" : "s", c.n_processes, several ? "es" : "",
		several ? "up to " : "", c.most, several ? " each" : "", threadlib_name(c.libs));
	if (!f)
		return;
	crowd_evidence(v, &c, f);
	crowd_advice(v, &c, f);
}

void speed_thread_rules(const struct speedview *v, struct findings *all)
{
	/* Ranks are alike: the first one speaks for all. */
	const size_t before = all->n;
	for (size_t i = 0; i < v->f->n_processes && all->n == before; i++)
		if (v->f->process[i].python)
			gil_turns(v, i, all);
	locks(v, all);
	oversubscribed(v, all);
}
