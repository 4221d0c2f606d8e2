/*
 * Which records of a series stay when its file is full: the newer the denser. Up to an hour before the newest record
 * all stay, up to a day one for each 10 s, up to 30 days one a minute, of what is older one an hour. Where that is more
 * than there is room for, the tier that takes the most bytes is thinned first, by doubling its distance; an older tier
 * is never denser than a newer one.
 *
 * Of each part of time the heaviest record stays (for samples: with the most memory), so no peak is lost. The first and
 * the last of each kind always stay. Pure.
 */
#pragma once

#include "base/base.h"

#define SERIES_TIERS 4

/* A record, in order of time. */
struct series_mark {
	uint64_t mono_ns, weight;
	uint32_t offset; /* in the file's text */
	uint16_t bytes;
	uint8_t kind; /* below SERIES_KINDS; those of one kind are thinned together, 0 never */
	bool stays;
};

#define SERIES_KINDS 8

/* The distances that were reached; 0: all stay. Sets "stays" of all marks. Returns the bytes of those that stay. */
size_t seriestier_thin(struct series_mark *mark, size_t n, size_t room_bytes, uint64_t ret_spacing_ns[SERIES_TIERS]);
