#include "agent/wait/waitcalls.h"

#include "agent/inspect/procview.h"
#include "base/buf.h"
#include "model/hang/activity.h"
#include "sense/rank.h"

/* Innermost frames in which a call in which ranks meet is looked for. */
#define FRAMES_MOST 64

static bool is_rank(const struct waitgraph_who *who)
{
	return who->main && who->rank != NO_RANK;
}

static size_t ranks_count(const struct waitgraph_who *who, size_t n_who)
{
	size_t n = 0;
	for (size_t i = 0; i < n_who; i++)
		n += is_rank(&who[i]);
	return n;
}

/* What a thread is about by its Python frames alone: a library's own sends are a part of the call that was made. */
static enum waitcall_state waitcalls_state_of(enum activity kind)
{
	switch (kind) {
	case ACTIVITY_COLLECTIVE:
	case ACTIVITY_SYNC_BN:
		return WAITCALL_IN;
	case ACTIVITY_STORE:
		return WAITCALL_STORE;
	case ACTIVITY_P2P: /* of two ranks */
	case ACTIVITY_GPU_SYNC: /* of whatever the device has to do */
	case ACTIVITY_BACKWARD:
	case ACTIVITY_OPTIMIZER:
	case ACTIVITY_EXIT:
		return WAITCALL_UNKNOWN;
	default:
		return WAITCALL_OUT;
	}
}

static enum waitcall_state call_by_frames(const struct dump_thread *t, struct activity_found *ret_found,
					  char op[static WAITCALL_OP])
{
	activity_of(t, ret_found);
	enum waitcall_state s = waitcalls_state_of(ret_found->kind);
	text_copy(op, WAITCALL_OP, s == WAITCALL_IN || s == WAITCALL_STORE ? ret_found->op : "");
	return s;
}

/* ---- by a dump ---- */

/* The thread with its innermost Python frames alone; the frames stay the dump's. */
static struct dump_thread python_part(const struct dump_thread *t, struct dump_frame frame[static FRAMES_MOST])
{
	struct dump_thread p = *t;
	p.frames = frame;
	p.n_frames = 0;
	for (size_t i = 0; i < t->n_frames && p.n_frames < FRAMES_MOST; i++)
		if (t->frames[i].kind == FRAME_PYTHON)
			frame[p.n_frames++] = t->frames[i];
	return p;
}

static enum waitcall_state thread_state(const struct dump_thread *t, char op[static WAITCALL_OP])
{
	struct dump_frame frame[FRAMES_MOST];
	struct activity_found found;
	const struct dump_thread python = python_part(t, frame);
	enum waitcall_state s = t->n_frames > 0 ? call_by_frames(&python, &found, op) : WAITCALL_UNKNOWN;
	if (t->n_frames == 0 || s == WAITCALL_IN || s == WAITCALL_STORE)
		return s;
	s = call_by_frames(t, &found, op);
	return s == WAITCALL_STORE ? WAITCALL_UNKNOWN : s; /* a wait for a store of the program's own */
}

/* A rank has come as well whose other threads are in such a call, or may be. */
static void process_state(const struct dump_process *p, struct waitcall *c)
{
	char op[WAITCALL_OP];
	for (size_t i = 0; i < p->n_threads; i++) {
		const struct dump_thread *t = &p->threads[i];
		if (t->tid == p->pid) {
			c->state = thread_state(t, c->op);
			break;
		}
	}
	for (size_t i = 0; c->state == WAITCALL_OUT && i < p->n_threads; i++) {
		const struct dump_thread *t = &p->threads[i];
		enum waitcall_state s = t->tid != p->pid && t->n_frames > 0 ? thread_state(t, op) : WAITCALL_OUT;
		if (s != WAITCALL_OUT)
			c->state = WAITCALL_UNKNOWN;
	}
}

int waitcalls_of_dump(const struct stackdump *d, const struct waitgraph_who *who, size_t n_who, struct waitcall **ret,
		      size_t *ret_n)
{
	struct waitcall *c = calloc(ranks_count(who, n_who) + 1, sizeof(*c));
	size_t n = 0;
	if (!c)
		return -ENOMEM;
	for (size_t i = 0; i < n_who; i++)
		for (size_t k = 0; is_rank(&who[i]) && k < d->n; k++)
			if (d->processes[k].pid == who[i].pid) {
				c[n] = (struct waitcall){.pid = who[i].pid};
				process_state(&d->processes[k], &c[n++]);
				break;
			}
	*ret = c;
	*ret_n = n;
	return 0;
}

/* ---- by Python alone ---- */

/* True if it may be in such a call: it waits for threads of its own, or for connections. */
static bool may_be_in_one(const struct waitfacts *f, const struct waitfact_thread *t)
{
	for (uint32_t i = 0; !t->runs && i < t->n; i++) {
		enum waitfact_kind k = f->fact[t->first + i].kind;
		if (k == WAITFACT_FUTEX || k == WAITFACT_TCP || k == WAITFACT_UNIX || k == WAITFACT_SHARED ||
		    k == WAITFACT_CLOCK)
			return true;
	}
	return false;
}

/* The innermost frames of a Python stack as those of a dump; their texts stay the cache's. */
static struct dump_thread python_thread(const struct pyrt *rt, const struct pystack *s,
					struct dump_frame frame[static FRAMES_MOST])
{
	struct dump_thread t = {.frames = frame, .has_python = true};
	for (size_t i = 0; i < s->n && t.n_frames < FRAMES_MOST; i++) {
		const struct pycode *c = s->frames[i].known;
		if (c)
			frame[t.n_frames++] = (struct dump_frame){.kind = FRAME_PYTHON,
								  .name = c->name,
								  .file = c->file,
								  .line = pycode_line(rt, c, s->frames[i].instr)};
	}
	return t;
}

/* By Python's frames. False: nothing is known of it. */
static bool python_call(const struct world *w, pid_t pid, struct waitcall *c)
{
	struct fault fault = {.text = ""};
	const struct procview_want want = {.natives = NULL};
	cleanup(procview_closep) struct procview *v = NULL;
	struct dump_frame frame[FRAMES_MOST];
	const struct pythread *py = NULL;
	struct pystack stack;
	size_t n = 0;
	if (procview_open(w, pid, &want, &v, &fault) != 0 || !v->has_python || !v->stacks ||
	    procview_python_threads(v, &py, &n) != 0)
		return false;
	py = procview_python_thread(py, n, pid);
	if (!py || pystacks_read(v->stacks, py, false, &stack) != 0)
		return false;
	const struct dump_thread t = python_thread(&v->rt, &stack, frame);
	struct activity_found found;
	*c = (struct waitcall){.pid = pid};
	c->state = call_by_frames(&t, &found, c->op);
	if (found.kind == ACTIVITY_BACKWARD) {
		c->state = WAITCALL_BACKWARD;
		TEXT_COPY(c->op, "backward()");
	}
	if (found.user)
		TEXT_FORMAT(c->place, "%s:%d in %s", frame_file_short(found.user->file), found.user->line,
			    found.user->name);
	if (!activity_waits_for_ranks(found.kind) && found.kind != ACTIVITY_BACKWARD)
		c->state = WAITCALL_PLACED;
	return c->state != WAITCALL_PLACED || c->place[0];
}

int waitcalls_read(const struct world *w, const struct waitfacts *facts, const struct waitgraph_who *who, size_t n_who,
		   uint64_t until_ns, struct waitcall **ret, size_t *ret_n)
{
	size_t ranks = ranks_count(who, n_who), n = 0;
	struct waitcall *c = calloc(ranks + 1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	for (size_t i = 0; ranks > 1 && i < n_who && w->mono_ns() < until_ns; i++) {
		const struct waitfact_thread *t =
			is_rank(&who[i]) ? waitfacts_thread(facts, who[i].pid, who[i].pid) : NULL;
		if (t && may_be_in_one(facts, t))
			n += python_call(w, who[i].pid, &c[n]);
	}
	*ret = c;
	*ret_n = n;
	return 0;
}
