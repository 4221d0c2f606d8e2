#include "sense/death/streamorder.h"

#include <string.h>

/* What comes closer together than this is one burst. */
static const uint64_t pause_ns = 10 * NS_PER_MS;

void streamorder_out(struct streamorder *o, size_t n, uint64_t now_ns)
{
	if (n == 0)
		return;
	if (o->out_bytes == 0 || now_ns - o->out_last_ns >= pause_ns)
		o->bursts++;
	o->out_bytes += n;
	o->out_last_ns = now_ns;
}

void streamorder_err(struct streamorder *o, size_t n)
{
	if (n == 0)
		return;
	o->err_bytes += n;
	if (o->n > 0 && o->mark[o->n - 1].out_at == o->out_bytes) {
		o->mark[o->n - 1].err_to = o->err_bytes;
		return;
	}
	if (o->n == STREAMORDER_MARKS) {
		o->err_from = o->mark[0].err_to;
		memmove(&o->mark[0], &o->mark[1], (STREAMORDER_MARKS - 1) * sizeof(o->mark[0]));
		o->n--;
	}
	o->mark[o->n].err_to = o->err_bytes;
	o->mark[o->n].out_at = o->out_bytes;
	o->mark[o->n++].bursts = o->bursts;
}

bool streamorder_after(const struct streamorder *o, uint64_t err_at, struct streamorder_part *ret)
{
	if (o->lost || o->n == 0 || err_at < o->err_from)
		return false;
	for (uint32_t i = 0; i + 1 < o->n; i++) {
		if (o->mark[i].err_to <= err_at)
			continue;
		*ret = (struct streamorder_part){.out_from = o->mark[i].out_at,
						 .out_to = o->mark[o->n - 1].out_at,
						 .bursts = o->mark[o->n - 1].bursts - o->mark[i].bursts};
		return true;
	}
	return false;
}

bool streamorder_after_last(const struct streamorder *o, struct streamorder_part *ret)
{
	if (o->lost || o->n == 0 || o->mark[o->n - 1].out_at == o->out_bytes)
		return false;
	*ret = (struct streamorder_part){.out_from = o->mark[o->n - 1].out_at,
					 .out_to = o->out_bytes,
					 .bursts = o->bursts - o->mark[o->n - 1].bursts};
	return true;
}
