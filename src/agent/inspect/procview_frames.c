#include "agent/inspect/procview.h"

#include "model/stacks/stackmerge.h"

/*
 * Work space of one merge, about 400 KiB. It is static rather than a part of each view because a recording has a view
 * for each of many processes, only one thread merges at a time, and borrowed results end with the next merge.
 */
static struct merge_scratch {
	struct merge_native native[UNWIND_FRAMES];
	struct merge_python python[PYSTACK_FRAMES];
	struct merge_item item[UNWIND_FRAMES + PYSTACK_FRAMES];
	struct procview_frame frame[UNWIND_FRAMES + PYSTACK_FRAMES];
} scratch;

static size_t inputs(struct procview *l, const struct procview_sample *sample)
{
	size_t n = sample->native ? sample->native->n : 0;
	for (size_t i = 0; i < n; i++) {
		struct native_symbol s;
		native_symbol(l->native, sample->native->frame[i].pc, sample->native->frame[i].exact, &s);
		scratch.native[i] = (struct merge_native){.eval_loop = s.kind == NATIVE_EVAL_LOOP,
							  .trampoline = s.kind == NATIVE_TRAMPOLINE};
	}
	for (size_t i = 0; i < sample->python.n; i++)
		scratch.python[i].entry = sample->python.frames[i].flags & PYFRAME_ENTRY;
	return n;
}

static void part_of(const struct procview_sample *sample, size_t index, struct procview_frame *ret)
{
	size_t k = 0;
	while (k + 1 < sample->n_parts && index >= sample->part[k].end)
		k++;
	ret->interp_id = sample->part[k].interp_id;
	ret->last_of_interp = index + 1 == sample->part[k].end;
}

int procview_merge(struct procview *l, const struct procview_sample *sample, const struct procview_frame **ret,
		   size_t *ret_n, bool *ret_approximate)
{
	size_t n_native = inputs(l, sample);
	struct merge_result m = stackmerge(scratch.native, n_native, scratch.python, sample->python.n,
					   l->has_python && l->rt.minor <= 10, scratch.item);
	for (size_t i = 0; i < m.n; i++) {
		const struct merge_item *it = &scratch.item[i];
		scratch.frame[i] = (struct procview_frame){
			.python = it->python,
			.py = it->python ? &sample->python.frames[it->index] : NULL,
			.native = it->python ? NULL : &sample->native->frame[it->index],
		};
		if (it->python)
			part_of(sample, it->index, &scratch.frame[i]);
	}
	*ret = scratch.frame;
	*ret_n = m.n;
	/* A stack of one kind has nothing to fit; a stack cut at its outer end fits as far as it is kept. */
	*ret_approximate =
		m.approximate && sample->native && sample->python.n > 0 && sample->native->end != UNWIND_TOO_DEEP;
	return 0;
}

void procview_frame_text(struct procview *l, const struct procview_frame *f, bool lines, struct frame *ret)
{
	if (f->python) {
		const struct pycode *c = f->py->known;
		*ret = (struct frame){.kind = FRAME_PYTHON,
				      .name = c->name,
				      .file = c->file,
				      .module = "",
				      .line = pycode_line(&l->rt, c, f->py->instr),
				      .first_line = c->first_line};
		return;
	}
	struct native_symbol s;
	native_symbol(l->native, f->native->pc, f->native->exact, &s);
	if (lines)
		native_line(l->native, f->native->pc, f->native->exact, &s);
	*ret = (struct frame){.kind = FRAME_NATIVE,
			      .name = s.name,
			      .file = s.file ? s.file : "",
			      .module = s.module ? s.module : "",
			      .line = (int32_t)MIN(s.line, (uint32_t)INT32_MAX)};
}
