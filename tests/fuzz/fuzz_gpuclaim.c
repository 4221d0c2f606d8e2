/* Any bytes as a device file's name and as CUDA_VISIBLE_DEVICES: what comes out are devices that there are. */
#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "model/gpu/gpuclaim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct gpu_set *devices(void)
{
	static struct gpu_set set;
	if (set.n)
		return &set;
	set.n = 4;
	for (uint32_t i = 0; i < set.n; i++) {
		set.gpu[i] = (struct gpu_sample){.index = i, .has_number = true, .number = i};
		TEXT_FORMAT(set.gpu[i].uuid, "GPU-%u%u", i, i);
	}
	set.gpu[3].vendor = GPU_HUAWEI;
	return &set;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span text = {(const char *)data, size};
	struct gpuheld h = {.nvidia = 0};
	uint32_t visible = 0;
	assert(gpuheld_count(&h) == 0 && gpuheld_add(&h, text) == (gpuheld_count(&h) == 1));
	bool told = gpuclaim_visible(devices(), text, size % 2, &visible);
	assert((visible & ~0x7u) == 0 && (told || visible == 0));
	struct gpuclaim_rank r = {.open = {.nvidia = 0xf}, .has_visible = true, .visible = text};
	assert((gpuclaim_of(devices(), 0xf, &r).devices & ~0x7u) == 0);
	return 0;
}
