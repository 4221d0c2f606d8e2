/*
 * How often a job was profiled and how long that took, as notes of the store: for metrics. Written by the command that
 * made the profile, read by agent/metrics.
 */
#pragma once

#include "tell/store/store.h"

enum profilenote_kind { PROFILENOTE_CPU, PROFILENOTE_GROWTH, PROFILENOTE_KIND_MAX };

struct profilenote {
	uint64_t n, took_ns; /* of all together */
};

const char *profilenote_kind_name(enum profilenote_kind k);
/* -errno; the store must be open for writing. */
int must_check profilenote_add(struct store *s, const char *job, enum profilenote_kind k, uint64_t took_ns);
/* n 0: there is none. */
void profilenote_read(struct store *s, const char *job, enum profilenote_kind k, struct profilenote *ret);
/* The same for a command, which knows the state directory only. A store that cannot be written is no failure. */
void profilenote_keep(const char *state_dir, const char *job, enum profilenote_kind k, uint64_t took_ns);
