/*
 * Reads the settings of systemd-oomd from oomd.conf and its drop-ins; settings that the files lack have the defaults of
 * systemd-oomd. Sources: oomd.conf(5), systemd.resource-control(5).
 */
#pragma once

#include "base/text.h"
#include "sense/world.h"

struct oomdconf {
	double swap_used_limit_ratio; /* SwapUsedLimit=, default 0.9: both used memory and used swap must be above it */
	double pressure_limit_ratio;  /* DefaultMemoryPressureLimit=, default 0.6: ratio of time stalled */
	double pressure_duration_s;   /* DefaultMemoryPressureDurationSec=, default 30 (Debian ships 20) */
	bool from_file;               /* a file set at least one of them */
};

#define OOMDCONF_DEFAULT \
	((struct oomdconf){.swap_used_limit_ratio = 0.9, .pressure_limit_ratio = 0.6, .pressure_duration_s = 30})

/* Applies the text of one file to c; unknown or invalid lines are ignored, as systemd does. Pure. */
void oomdconf_parse(struct span text, struct oomdconf *c);
/* Reads all files in systemd's order; the last value of a setting is used. */
void oomdconf_read(const struct world *w, struct oomdconf *ret);
