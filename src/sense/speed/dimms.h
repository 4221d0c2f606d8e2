/*
 * How fast the populated memory could be read and written at most, by what the firmware says of its devices: SMBIOS
 * (DMTF DSP0134), structures of type 17, from /sys/firmware/dmi/tables/DMI, which only root may read. A channel moves
 * the configured transfers a second times the width of its data. Two devices of one channel share it, where the
 * firmware's names of slots say so beyond doubt; else each device counts as a channel, and the limit is too high. It is
 * never too low: who uses most of it is told so for certain, and who is not told so may still use all that there is.
 */
#pragma once

#include "base/text.h"
#include "sense/world.h"

struct dimms {
	uint32_t devices; /* populated */
	uint32_t channels; /* that they are on: at most devices */
	double limit_bytes; /* a second */
};

/*
 * A whole table. -EBADMSG: it is damaged. -ENODATA: it names no memory, or the speed or width of some is not in it, so
 * there is no limit. Pure.
 */
int must_check dimms_parse(struct span table, struct dimms *ret);
/* WORLD_ABSENT: there is no such table or limit; in a virtual machine too, whose table describes no real memory. */
int must_check dimms_read(const struct world *w, struct dimms *ret);
