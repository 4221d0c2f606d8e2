/*
 * Whether an attempt that died is started again. Pure.
 *
 * Memory retries have a count and a back-off of their own. An attempt that died exactly as the one before (same
 * footprint, same age, same last line of output) made no progress: another one would end the same way, so the job is
 * given up, with the bytes that it would need.
 */
#pragma once

#include "base/base.h"
#include "model/incident/incident.h"

struct retry_settings {
	uint32_t max;          /* --retries */
	bool on_memory, on_crash, on_hang, on_any;
	uint64_t backoff_ns;   /* the first delay; it doubles up to a minute */
};

/* One attempt, as it was when it died. */
struct retry_attempt {
	enum incident_kind kind;
	uint64_t lived_ns;
	uint64_t peak_bytes;
	bool has_last_line;
	uint64_t last_line_hash;
	bool stopping;         /* the user asked it to end, or one of its ranks from the page */
};

struct retry_decision {
	enum incident_retry next;
	uint64_t delay_ns;
	char reason[320];
};

/* history: all attempts so far, oldest first, the dead one last (n >= 1). */
void retry_decide(const struct retry_settings *s, const struct retry_attempt *history, size_t n,
		  struct retry_decision *ret);
