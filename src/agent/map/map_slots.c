#include "agent/map/mapslots.h"
#include "agent/map/mapstate.h"
#include "base/log.h"

void map_slots_follow(struct map *m)
{
	uint32_t n = 0;
	if (!m->spec->slots_path)
		return;
	if (mapslots_read(m->spec->slots_path, &n) < 0) {
		if (!m->slots_complained)
			log_warning("--jobs %s: no number of tasks stands there any more; it stays at %u",
				    m->spec->slots_path, m->slots);
		m->slots_complained = true;
		return;
	}
	m->slots_complained = false;
	m->slots = m->spec->gpus_per_task ? MIN(n, m->n_gpus / m->spec->gpus_per_task) : n;
}
