/* What threads that run ask of the kernel: their system call at some instants, without stopping them. */
#include <sys/syscall.h>

#include "agent/speed/speedwatch_parts.h"
#include "base/buf.h"
#include "sense/speed/askcall.h"

/* A thread is looked at once it was seen to run so often, up to so many times, and left alone where that is in vain. */
#define RUNS_BEFORE 8
#define CAUGHT_MOST 300
#define MISSED_MOST 20
/* In one sweep. */
#define THREADS_MOST 4
#define IN_A_ROW 8

static void call_count(struct speed_thread *t, struct remote *r, const struct unwind_regs *regs)
{
	uint64_t arg[4];
	t->caught++;
	if (!regs->in_call || regs->call == SYS_futex || regs->call == SYS_sched_yield)
		return;
	for (size_t k = 0; k < ARRAY_SIZE(arg); k++)
		arg[k] = unwind_call_argument(regs, k);
	t->calls++;
	if (!askcall_is(r, regs->call, arg))
		return;
	t->asks++;
	TEXT_COPY(t->ask, syscall_name((int64_t)regs->call));
}

/* A thread that was caught is caught again at once, some microseconds later each time. */
static void thread_catch(struct speedwatch *s, size_t i)
{
	struct speedwatch_thread *own = &s->thread[i];
	struct speed_thread *t = &s->f->thread[i];
	struct speedwatch_process *p = &s->process[t->process];
	struct unwind_regs regs;
	size_t n_bytes;
	const uint32_t asks_before = t->asks;
	if (!p->stopper) {
		remote_open(s->w, s->f->process[t->process].pid, &p->remote);
		p->stopper = stopper_new(s->w, s->f->process[t->process].pid, &p->remote);
	}
	for (int k = 0; p->stopper && k < IN_A_ROW; k++) {
		if (stopper_catch(p->stopper, s->instant, t->tid, NULL, 0, NULL, &n_bytes, &regs, s->stack)) {
			own->missed += k == 0;
			break;
		}
		call_count(t, &p->remote, &regs);
	}
	t->ask_sweeps += t->asks > asks_before;
}

void speedwatch_asks(struct speedwatch *s)
{
	size_t n = s->f->n_threads, caught = 0;
	for (size_t k = 0; k < n && caught < THREADS_MOST; k++) {
		const size_t i = (k + s->f->n_sweeps) % n; /* each has its turn */
		struct speedwatch_thread *own = &s->thread[i];
		if (own->gone || own->letter != SPEED_RUN || own->left > 0)
			continue;
		own->runs++;
		if (own->runs <= RUNS_BEFORE || s->f->thread[i].caught >= CAUGHT_MOST ||
		    (s->f->thread[i].caught == 0 && own->missed >= MISSED_MOST))
			continue;
		if (!s->instant)
			s->instant = instant_new(s->w);
		if (!s->stack)
			s->stack = malloc(sizeof(*s->stack));
		if (!s->instant || !s->stack)
			return;
		thread_catch(s, i);
		caught++;
	}
}

void speedwatch_asks_done(struct speedwatch *s)
{
	for (size_t i = 0; i < s->own_process_cap && i < s->f->n_processes; i++) {
		struct speedwatch_process *p = &s->process[i];
		if (p->stopper)
			remote_done(&p->remote);
		p->stopper = stopper_free(p->stopper);
	}
	s->instant = instant_free(s->instant);
	free(s->stack);
}
