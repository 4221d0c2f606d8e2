#include "model/jobs/renewals.h"

#include "base/base.h"

void renewals_add(struct renewals *r, uint64_t now_ns)
{
	r->at_ns[r->n++ % RENEWALS_KEPT] = now_ns;
}

size_t renewals_since(const struct renewals *r, uint64_t since_ns)
{
	size_t n = 0;
	for (uint64_t i = 0; i < MIN(r->n, (uint64_t)RENEWALS_KEPT); i++)
		n += r->at_ns[i] >= since_ns;
	return n;
}

uint64_t renewals_last_ns(const struct renewals *r)
{
	return r->n ? r->at_ns[(r->n - 1) % RENEWALS_KEPT] : 0;
}
