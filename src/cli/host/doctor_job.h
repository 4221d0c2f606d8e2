/* `vigil doctor JOB|PID`: watches a job and says what holds it back. */
#pragma once

#include "base/base.h"

struct doctor_job {
	const char *state; /* --state, or NULL */
	const char *what; /* JOB, PID or "last" */
	uint64_t for_ns;
	bool json;
};

/* The exit status. */
int doctor_job(const struct doctor_job *d);
