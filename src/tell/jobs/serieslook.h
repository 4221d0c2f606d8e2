/* Looks of a series that are made for a picture: several as one, with the most memory of any, and the first. Pure. */
#pragma once

#include "model/jobs/job.h"
#include "tell/store/series.h"

/* The lane of a rank, which keeps its place from look to look; NULL: it was not there yet. */
const struct series_lane *serieslook_lane(const struct series_sample *s, uint32_t place, int32_t rank);
/* Into the later look goes what the one before had more of. */
void serieslook_keep_peaks(const struct series_sample *before, struct series_sample *s);
/* The same of large processes. Who is not in the later look has ended. */
void serieslook_keep_large_peaks(const struct series_bulk *before, struct series_bulk *s);
/*
 * A job that vigil started begins with counters of 0, so its use before the first look is drawn, too. False: it is no
 * such job, or its first look is too late.
 */
bool serieslook_at_start(const struct job *j, const struct series_sample *first, struct series_sample *ret);
