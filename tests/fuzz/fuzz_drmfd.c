/* fdinfo of any bytes: text is terminated, engines stay within their array and have different names. */
#include <assert.h>
#include <string.h>

#include "sense/gpu/drmfd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct drmfd d;
	if (!drmfd_parse((struct span){(const char *)data, size}, &d))
		return 0;
	assert(d.driver[0] && memchr(d.driver, 0, sizeof(d.driver)) && memchr(d.pci, 0, sizeof(d.pci)));
	assert(d.n_engines <= DRMFD_ENGINES);
	for (size_t i = 0; i < d.n_engines; i++) {
		assert(memchr(d.engine[i].name, 0, sizeof(d.engine[i].name)) && d.engine[i].capacity >= 1);
		for (size_t k = 0; k < i; k++)
			assert(strcmp(d.engine[i].name, d.engine[k].name) != 0);
	}
	return 0;
}
