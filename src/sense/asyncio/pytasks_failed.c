/* Tasks that have ended by an exception, which is in them as long as anything refers to them. */
#include "base/buf.h"
#include "sense/asyncio/pytasks_parts.h"

/*
 * Modules/_asynciomodule.c, FutureObj_HEAD: the exception is behind loop, callback, its context and the list of
 * callbacks; behind the state is whether it would be logged, an int or the lowest bit of one.
 */
enum { EXCEPTION_AT = 48, FINISHED = 2 };
/* Include/cpython/traceback.h: the next one, further in, and the frame. Include/internal/pycore_frame.h: its data. */
enum { NEXT_AT = 16, FRAME_AT = 24, FRAME_DATA_AT = 24, TRACEBACKS_MOST = 64 };

/* Include/cpython/pyerrors.h, PyException_HEAD: dict, arguments, notes (3.11 and later), traceback. */
static uint64_t traceback_at(const struct pytasks_reader *x)
{
	return x->rt->minor >= 11 ? 40 : 32;
}

/* Where the exception was raised: the innermost of its tracebacks. */
static int place_read(struct pytasks_reader *x, uint64_t exception, struct pyframe *ret)
{
	uint64_t at = 0, next = 0, frame = 0;
	int e = pyobj_u64(&x->objs, exception + traceback_at(x), &at);
	for (int i = 0; e == 0 && at && i < TRACEBACKS_MOST; i++) {
		e = pyobj_u64(&x->objs, at + NEXT_AT, &next);
		if (e == 0 && next == 0)
			break;
		at = next;
	}
	if (e || at == 0 || next != 0)
		return e ? e : REMOTE_FAULT;
	e = pyobj_u64(&x->objs, at + FRAME_AT, &frame);
	if (e == 0 && x->rt->minor >= 11)
		e = pyobj_u64(&x->objs, frame + FRAME_DATA_AT, &frame);
	return e ? e : pytasks_frame_read(x, frame, ret);
}

static int failed_read(struct pytasks_reader *x, uint64_t addr, struct pytask_failed *ret)
{
	const struct pytasks_layout *l = &x->layout;
	const struct pyobj_type *type;
	struct pyframe frame;
	uint32_t state[2] = {0};
	uint64_t exception = 0, name = 0;
	int e = pyobj_type(&x->objs, addr, &type);
	if (e == 0 && (type->kind != PYOBJ_TASK || type->size != l->size))
		e = REMOTE_FAULT;
	if (e == 0)
		e = pyobj_get(&x->objs, addr + l->state, state, sizeof(state));
	if (e == 0 && (state[0] != FINISHED || !(state[1] & 1)))
		e = REMOTE_FAULT;
	if (e == 0)
		e = pyobj_u64(&x->objs, addr + EXCEPTION_AT, &exception);
	if (e == 0)
		e = pyobj_u64(&x->objs, addr + 16, &ret->loop); /* as in every future */
	if (e == 0)
		e = pyobj_type(&x->objs, exception, &type);
	if (e)
		return e;
	TEXT_COPY(ret->type, type->name);
	e = pyobj_u64(&x->objs, addr + l->name, &name);
	if (e == 0)
		e = pytasks_name_read(x, name, ret->name, sizeof(ret->name));
	if (e == 0)
		e = place_read(x, exception, &frame);
	if (e == 0)
		ret->frame = frame;
	return e == REMOTE_FAULT ? 0 : e; /* it has failed, wherever that was */
}

int pytasks_failed_add(struct pytasks_reader *x, uint64_t addr)
{
	struct pytasks *out = x->out;
	struct pytask_failed one = {.loop = 0};
	if (out->n_failed == PYTASKS_FAILED)
		return 0;
	int e = failed_read(x, addr, &one);
	if (e == 0)
		out->failed[out->n_failed++] = one;
	return e == REMOTE_FAULT ? 0 : e;
}
