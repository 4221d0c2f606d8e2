/* Files of an InfiniBand port, and a list of devices to leave out. */
#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "sense/net/ibport.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = {(const char *)data, size};
	uint32_t v = 0;
	char list[200];
	if (ibport_state_parse(text, &v) == 0)
		assert(v <= 64);
	if (ibport_rate_parse(text, &v) == 0)
		assert(v <= 1000000900u);
	span_copy(text, list, sizeof(list));
	ignore(ibport_excluded("mlx5_0", list), "any answer is one");
	return 0;
}
