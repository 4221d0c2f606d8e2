/* Sizes, ratios and durations that people type. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[256];
	size = MIN(size, sizeof(text) - 1);
	memcpy(text, data, size);
	text[size] = '\0';
	struct fault f = {0};
	uint64_t bytes, ns;
	double ratio;
	char shown[32];
	if (size_parse(text, &bytes, &f) == 0 && strlen(size_format(bytes, shown)) >= 16)
		abort();
	if (duration_parse(text, &ns, &f) == 0)
		duration_format(ns, shown);
	if (ratio_parse(text, &ratio, &f) == 0 && !(ratio >= 0.0 && ratio <= 1.0))
		abort();
	return 0;
}
