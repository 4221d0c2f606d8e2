/*
 * systemd-oomd's settings, from oomd.conf and its drop-ins, with the values it
 * uses where the files say nothing. Sources: oomd.conf(5), systemd.resource-control(5).
 */
#pragma once

#include "base/text.h"
#include "sense/world.h"

struct oomdconf {
	double swap_used_limit_ratio;     /* SwapUsedLimit=, 0.9: of memory and of swap, both */
	double pressure_limit_ratio;      /* DefaultMemoryPressureLimit=, 0.6: share of time stalled, not of memory used */
	double pressure_duration_s;       /* DefaultMemoryPressureDurationSec=, 30 (Debian ships 20) */
	bool from_file;                   /* something was set */
};

#define OOMDCONF_DEFAULT \
	((struct oomdconf){.swap_used_limit_ratio = 0.9, .pressure_limit_ratio = 0.6, .pressure_duration_s = 30})

/* Apply one file's text; unknown or broken lines are left out, as systemd does. Pure. */
void oomdconf_parse(struct span text, struct oomdconf *c);
/* All files in systemd's order; later ones win. */
void oomdconf_read(const struct world *w, struct oomdconf *ret);
