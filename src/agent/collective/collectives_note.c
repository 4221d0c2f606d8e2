#include "agent/collective/collectives_parts.h"

#include "base/buf.h"

void collectives_note(struct collectives *c, const char *fmt, ...)
{
	va_list ap;
	if (c->n_notes == COLLECTIVES_NOTES) {
		TEXT_COPY(c->note[COLLECTIVES_NOTES - 1], "and more that could not be read");
		return;
	}
	struct buf b = BUF_ON(c->note[c->n_notes++]);
	buf_reset(&b);
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
}

void collectives_done(struct collectives *c)
{
	collective_freep(&c->set);
}
