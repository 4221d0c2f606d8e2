/* Kernel log text of any bytes: Xids stay within their array and their text is terminated. */
#include <assert.h>
#include <string.h>

#include "sense/gpu/xid.h"
#include "sense/log/logprefix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct xid out[4];
	struct xids x = {.out = out, .cap = 4};
	struct span text = {(const char *)data, size}, line;
	while (span_line(&text, &line)) {
		struct logprefix p;
		struct xid one;
		logprefix_parse(line, &p);
		if (xid_parse(p.text, &one))
			xids_add(&x, &one);
	}
	assert(x.n <= 4);
	xid_group(out, x.n);
	for (size_t i = 0; i < x.n; i++) {
		assert(out[i].number > 0 && out[i].pid >= 0 && out[i].incident >= 1 && out[i].incident <= x.n);
		assert(memchr(out[i].pci, 0, sizeof(out[i].pci)) && memchr(out[i].text, 0, sizeof(out[i].text)));
		assert(memchr(out[i].process, 0, sizeof(out[i].process)));
	}
	return 0;
}
