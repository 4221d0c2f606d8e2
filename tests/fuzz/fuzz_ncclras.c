/* Any bytes as an answer of NCCL's RAS, in either form, through to a verdict. */
#include <assert.h>
#include <stdint.h>

#include "judge/collective/collective.h"
#include "sense/collective/ncclversion.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ncclras_report r = {.n_comms = 0};
	struct ncclras_version version;
	struct ncclras_address address;
	struct fault f = {.text = ""};
	struct collective_verdict v;
	const struct span text = {(const char *)data, size};
	ignore(ncclras_version_parse(text, &version) || nccl_version_own(text, &version), "any text");
	ignore(ncclras_address_parse(text, &address, &f), "any text");
	int e = ncclras_parse(text, &r, &f);
	assert(e == 0 || e == -ENOMEM || (e == NCCLRAS_FOREIGN && f.text[0]));
	if (e)
		return 0;
	cleanup(collective_freep) struct collective_set *s = collective_new();
	const struct collective_place places[] = {{.rank = 0, .pid = 100}, {.rank = 1, .pid = 101, .host = "10.0.0.1"}};
	const struct ncclras_process_id ours = {.pid = 100};
	ignore(ncclras_is_ours(&r, &ours, 1), "any report");
	if (s && collective_add_ras(s, &r, size % 2 ? &r : NULL, places, ARRAY_SIZE(places)) == 0 &&
	    collective_seal(s) == 0 && collective_judge(s, &v) == 0)
		assert(v.text[0] && v.n_culprits <= COLLECTIVE_CULPRITS);
	ncclras_done(&r);
	return 0;
}
