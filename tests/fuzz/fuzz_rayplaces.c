#include <assert.h>
#include <math.h>
#include <string.h>

#include "sense/framework/rayplaces.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void set_check(const struct rayplaces_set *s)
{
	assert(s->n <= RAYPLACES_KINDS);
	for (size_t i = 0; i < s->n; i++) {
		assert(s->of[i].name[0] && strlen(s->of[i].name) < sizeof(s->of[i].name));
		assert(isfinite(s->of[i].amount) && s->of[i].amount >= 0);
	}
}

/* What the raylet and the monitor write: whatever the bytes, texts have an end, numbers are finite, lists have room. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span bytes = {(const char *)data, size};
	struct rayplaces p = {.nodes = 0};
	char folder[64];
	if (rayplaces_state_parse(bytes, &p)) {
		assert(p.has_state && p.n_holders <= RAYPLACES_HOLDERS);
		set_check(&p.total);
		set_check(&p.available);
	}
	for (size_t i = 0; i < p.n_holders; i++) {
		assert(p.holder[i].pid > 0);
		set_check(&p.holder[i].has);
	}
	if (rayplaces_status_parse(bytes, bytes, &p))
		assert(p.has_status && p.statuses > 0 && p.n_demands <= RAYPLACES_DEMANDS);
	for (size_t i = 0; i < p.n_demands; i++)
		set_check(&p.demand[i].all);
	if (rayplaces_folder(bytes, folder, sizeof(folder)))
		assert(folder[0] == '/' || folder[0] == '\0');
	return 0;
}
