/* What the files of the series' writer share; for nobody else. */
#pragma once

#include <limits.h>

#include "tell/store/series.h"

#define SERIES_MAGIC_BYTES 8
#define SERIES_HEAD_BYTES 8
#define SERIES_SAMPLE_BYTES 64
#define SERIES_LANE_BYTES 64
#define SERIES_PROCESS_BYTES 104
#define SERIES_STEPS_BYTES 40
#define SERIES_STEP_BYTES 24
#define SERIES_DEVICES_BYTES 40
#define SERIES_DEVICE_BYTES 32
#define SERIES_BULK_BYTES 40
#define SERIES_BULK_PROCESS_BYTES 24
#define SERIES_TIMES_BYTES 176 /* without ranks */
#define SERIES_TIMES_RANK_BYTES 24
#define SERIES_RECORD_MAX (SERIES_SAMPLE_BYTES + SERIES_LANES * SERIES_LANE_BYTES)

struct series_writer {
	int fd;
	char path[PATH_MAX];
	size_t bytes, max_bytes; /* of the file */
	unsigned char *pending;
	size_t pending_len, pending_cap;
	struct step_times times; /* of all steps that were added */
};

extern const char series_magic[SERIES_MAGIC_BYTES];

/* The record of the times of all steps until now; returns its length. */
size_t series_times_record(unsigned char record[static SERIES_RECORD_MAX], const struct step_times *t);
/* The length of a record that was read. */
size_t series_record_bytes(const struct series_record *rec);
/* Makes the full file smaller (seriesroom.c). */
int must_check series_make_room(struct series_writer *w);
