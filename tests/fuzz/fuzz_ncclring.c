/* Any bytes as the ring of the NCCL plugin, through to a verdict. */
#include <assert.h>
#include <stdint.h>

#include "judge/collective/collective.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ncclring r = {.n_calls = 0};
	struct fault f = {.text = ""};
	struct collective_verdict v;
	int e = ncclring_parse((struct span){(const char *)data, size}, &r, &f);
	assert(e == 0 || e == -ENOMEM || (e == NCCLRING_FOREIGN && f.text[0]));
	if (e)
		return 0;
	for (size_t i = 1; i < r.n_calls; i++)
		assert(r.calls[i].order >= r.calls[i - 1].order && r.calls[i].comm < r.n_comms);
	cleanup(collective_freep) struct collective_set *s = collective_new();
	if (s && collective_add_ring(s, 0, &r) == 0 && collective_add_ring(s, 1, &r) == 0 && collective_seal(s) == 0)
		assert(collective_judge(s, &v) == 0 && v.text[0]);
	ncclring_done(&r);
	return 0;
}
