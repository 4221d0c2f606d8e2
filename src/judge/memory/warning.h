/*
 * The early warning: memory is above a threshold of its own (--warn-at), well before anybody has to be ended. Told
 * once, as an event and a notice, with who grows and when the memory will be full. Pure.
 */
#pragma once

#include "judge/memory/guard.h"
#include "model/incident/incident.h"

/* How long a level has been above its warning threshold. Zeroed by its owner at start and when the level is another. */
struct warning_state {
	uint64_t since_ns; /* 0: it is below */
	bool told;
};

/* What is known when it is told. */
struct warning_facts {
	uint64_t used_bytes, total_bytes, available_bytes, threshold_bytes;
	char level[200];
	int64_t growth_bytes_per_s;
	uint64_t growth_over_ms; /* 0: unknown */
	bool has_grower;
	struct incident_grower grower;
};

/*
 * True once, when the level has been above the threshold for two seconds: whoever fills faster is met by the guard
 * first. It is told again only after the level has fallen by a twentieth of its size below the threshold.
 */
bool warning_due(struct warning_state *w, const struct guard_settings *s, const struct ledger_level *v,
		 uint64_t now_ns);
/* The level's warning threshold in bytes in use; UINT64_MAX: there is none. */
uint64_t warning_threshold(const struct guard_settings *s, uint64_t total_bytes);
void warning_text(const struct warning_facts *f, char *dst, size_t cap);
