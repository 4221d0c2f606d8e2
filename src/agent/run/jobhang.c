#include "agent/run/jobhang.h"

#include <string.h>

#include "judge/hang/hang.h"

void jobhang_forget_early(struct job_hang *h)
{
	free(h->early);
	h->early = NULL;
}

void jobhang_keep_early(struct job_hang *h, const struct hang_message *m, uint64_t now_ns)
{
	/* a message has room for a MiB of stacks and mostly holds a few KiB */
	size_t size = offsetof(struct hang_message, stacks) + MIN(m->stacks_len, sizeof(m->stacks));
	jobhang_forget_early(h);
	h->early = malloc(size);
	if (!h->early)
		return;
	memcpy(h->early, m, size);
	h->early_ns = now_ns;
}

static void incident_keep(struct incident **dst, struct attachments *dst_parts, const struct incident *in,
		 struct attachments *parts)
{
	if (!*dst)
		*dst = malloc(sizeof(**dst));
	attachments_done(dst_parts);
	if (!*dst)
		return;
	**dst = *in;
	*dst_parts = *parts;
	*parts = (struct attachments){.heap = NULL};
}

void jobhang_keep(struct job_hang *h, const struct hang_verdict *v, const struct incident *in,
		  struct attachments *parts)
{
	if (v->kind == HANG_HANG)
		incident_keep(&h->last, &h->parts, in, parts);
	else if (v->kind == HANG_STRAGGLER && v->usual_per_s > 0)
		incident_keep(&h->slow, &h->slow_parts, in, parts);
}

void jobhang_forget_slow(struct job_hang *h)
{
	attachments_done(&h->slow_parts);
	free(take(&h->slow));
}

void jobhang_clear(struct job_hang *h)
{
	jobhang_forget_early(h);
	jobhang_forget_slow(h);
	attachments_done(&h->parts);
	free(h->last);
	*h = (struct job_hang){.last = NULL};
}

bool jobhang_ended(const struct job_hang *h, uint64_t now_ns, struct incident *in, struct attachments *parts)
{
	const struct hang_message *m = h->early;
	if (!m)
		return false;
	hang_ended(&m->verdict, m->text, now_ns - h->early_ns, in);
	incident_advice_name_job(in);
	hangreport_early(m, parts);
	return true;
}
