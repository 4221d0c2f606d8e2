#include "model/jobs/health.h"

const char *health_level_name(enum health_level l)
{
	static const char *const names[HEALTH_LEVEL_MAX] = {"unknown", "well",	 "quiet", "suspected", "hung",
							    "slow",    "memory", "died",  "ended",     "lost"};
	return l >= 0 && l < HEALTH_LEVEL_MAX ? names[l] : names[HEALTH_UNKNOWN];
}
