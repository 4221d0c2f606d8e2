/* Any bytes as a Flight Recorder dump, in either form, beside a good one, through to a verdict. */
#include <assert.h>
#include <stdint.h>

#include "judge/collective/collective.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char other[] =
	"{\"version\": \"2.4\", \"pg_config\": {\"0\": {\"desc\": \"default_pg\", \"ranks\": \"[0, 1, 2]\"}}, "
	"\"entries\": "
	"[{\"process_group\": [\"0\", \"default_pg\"], \"collective_seq_id\": 1, \"profiling_name\": "
	"\"nccl:all_reduce\", "
	"\"input_sizes\": [[4]], \"input_dtypes\": [\"Float\"], \"state\": \"scheduled\"}, {\"process_group\": [\"0\", "
	"\"\"], "
	"\"p2p_seq_id\": 1, \"is_p2p\": true, \"profiling_name\": \"nccl:send 1->0\", \"state\": \"scheduled\"}]}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct flightrec r = {.n_entries = 0}, good = {.n_entries = 0};
	struct fault f = {.text = ""};
	struct collective_verdict v;
	struct flightrec_place place;
	flightrec_place((struct span){(const char *)data, size}, &place);
	int e = flightrec_parse((struct span){(const char *)data, size}, &r, &f);
	assert(e == 0 || e == -ENOMEM || (e == FLIGHTREC_FOREIGN && f.text[0]));
	if (e)
		return 0;
	cleanup(collective_freep) struct collective_set *s = collective_new();
	assert(flightrec_parse((struct span){other, sizeof(other) - 1}, &good, &f) == 0);
	if (s && collective_add_flightrec(s, 0, &r) == 0 && collective_add_flightrec(s, 1, &good) == 0 &&
	    collective_seal(s) == 0 && collective_judge(s, &v) == 0)
		assert(v.valid && v.text[0]);
	flightrec_done(&r);
	flightrec_done(&good);
	return 0;
}
