/* Lines as a unit has them in /sys: an event, the format of its terms, a scale and a unit. */
#include <assert.h>
#include <math.h>

#include "sense/speed/pmuevent.h"
#include "sense/speed/resctrl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span rest = {(const char *)data, size}, line, event = SPAN(""), format = SPAN("");
	struct pmuterm t;
	struct pmuevent e = {{0}};
	double v;
	uint64_t count;
	(void)(span_line(&rest, &event) && span_line(&rest, &format));
	for (size_t before = event.len + 1; pmuterm_next(&event, &t) == 0; before = event.len) {
		assert(event.len < before && t.name[0]);
		ignore(pmuevent_put(&e, format, t.value), "any answer is one");
	}
	while (span_line(&rest, &line)) {
		if (pmuscale_parse(line, &v) == 0)
			assert(v > 0 && isfinite(v));
		if (pmuunit_parse(line, &v) == 0)
			assert(v >= 1);
		(void)resctrl_count(line, &count);
	}
	return 0;
}
