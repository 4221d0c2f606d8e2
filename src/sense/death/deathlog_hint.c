/* Keeps the messages that were found in a log: the latest of each kind. */
#include <string.h>

#include "base/buf.h"
#include "sense/death/deathlog_parts.h"

/*
 * Merges a message with earlier ones of the same kind: the numbers of the last message are kept, and whether the
 * memory in tensors ever fell from one message to the next.
 */
static void gpu_join(const struct log_hint *before, struct log_hint *h)
{
	if (!before->has_gpu)
		return;
	struct gpuoom now = h->gpu;
	bool has = h->has_gpu;
	h->has_gpu = true;
	h->gpu = has ? now : before->gpu;
	h->gpu_messages = before->gpu_messages;
	h->gpu_first_allocated_bytes = before->gpu_first_allocated_bytes;
	h->gpu_fell = before->gpu_fell;
	/* The same message is often written twice: by the code that caught it and in the traceback. */
	if (!has || (now.allocated.bytes == before->gpu.allocated.bytes && now.tried.bytes == before->gpu.tried.bytes))
		return;
	h->gpu_messages++;
	h->gpu_fell |= now.allocated.bytes < before->gpu.allocated.bytes;
}

/* Room for one more: the hint that was written first gives way. */
static struct log_hint *hint_room(struct deathlog *d)
{
	struct log_hint *oldest = NULL;
	if (d->n < d->cap)
		return &d->hints[d->n++];
	for (size_t i = 0; i < d->n; i++)
		if (!oldest || d->hints[i].line < oldest->line)
			oldest = &d->hints[i];
	return oldest;
}

void deathlog_hint_add(struct deathlog *d, const struct log_hint *add)
{
	struct log_hint join = *add, *h = &join, *room;
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->hints[i].id, h->id) == 0 && strcmp(d->hints[i].source, h->source) == 0 &&
		    d->hints[i].rank == h->rank && d->hints[i].pid == h->pid) {
			gpu_join(&d->hints[i], h);
			d->hints[i] = *h;
			return;
		}
	room = hint_room(d);
	if (room)
		*room = *h;
}

struct log_hint deathlog_hint_make(const struct reading *r, const char *id, struct span text, int32_t rank)
{
	struct log_hint h = {.rank = rank, .line = r->line, .at_bytes = r->at_bytes, .first_line = r->line};
	TEXT_COPY(h.id, id);
	TEXT_COPY(h.source, r->source);
	span_copy(span_trim(text), h.text, sizeof(h.text));
	return h;
}
