#include "pymemory.h"
#include "sense/pylib/pyloader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input's frame as that of an iterator of a DataLoader, whose object and all that it refers to are the input's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pymemory in = {.data = data, .size = size};
	struct pyrt rt = {};
	struct pyloader found;
	static char name[] = "_MultiProcessingDataLoaderIter._try_get_data", file[] = "/x/dataloader.py";
	const struct pycode known = {.name = name, .file = file};
	if (size < PYMEMORY_HEAD)
		return 0;
	in.endless = data[1] & 1;
	if (!pymemory_layout(&in, &rt))
		return 0;
	struct remote r = {.pid = 1, .mem_fd = -1, .proc_fd = -1, .ops = &pymemory_ops, .ctx = &in};
	const struct pyframe frame = {.addr = u64_at(data + 2), .code = u64_at(data + 10), .known = &known};
	int e = pyloader_awaited(&rt, &r, &frame, 1, &found);
	assert(e <= 0 || e == WORLD_GONE || e == WORLD_DENIED);
	assert(found.worker >= 0);
	return 0;
}
