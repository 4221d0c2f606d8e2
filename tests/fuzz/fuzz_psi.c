#include <assert.h>

#include "sense/memory/psi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct psi_line *l)
{
	const double r[] = {l->avg10_ratio, l->avg60_ratio, l->avg300_ratio};
	for (size_t i = 0; i < ARRAY_SIZE(r); i++)
		assert(r[i] >= 0 && r[i] <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct psi p;
	if (psi_parse((struct span){(const char *)data, size}, &p) != 0)
		return 0;
	check(&p.some);
	if (p.has_full)
		check(&p.full);
	return 0;
}
