/*
 * Hands metrics and events to a receiver of OTLP/HTTP (JSON): POST <url>/v1/metrics and <url>/v1/logs. Answers 429,
 * 502, 503 and 504, and none, are tried again after Retry-After or a growing pause, until the time is up; every other
 * answer but 2xx is final.
 *
 * Events are sent once: what the receiver has taken is noted in <state>/otlp-<digest of the URL>. Where that cannot be
 * written, they are sent again after a restart. A receiver that is new gets the events of the last hour.
 */
#pragma once

#include "base/fault.h"
#include "tell/metrics/metrics.h"
#include "tell/store/store.h"

struct metrics_receiver {
	char url[1024]; /* without a '/' at its end */
	char token[512]; /* sent as "Authorization: Bearer"; "": none */
	char note[400]; /* the file of the last event that it took */
	uint64_t seq; /* of that event */
	char state[256]; /* the state directory */
	uint64_t store; /* which store seq is of; another one counts anew */
	bool noted; /* seq was read from the note, or the receiver took something */
	uint64_t budget_ns; /* for one push, all tries together */
	uint64_t rejected; /* data points and records that the receiver did not want */
};

/* url: as typed. -EINVAL with a sentence: no http(s) address, or a plain one that is not of this machine. */
int must_check metricspush_open(struct metrics_receiver *r, const char *url, bool insecure, const char *state_dir,
				struct fault *f);
/* The receiver's token, from a file that a person typed. Negative errno with a sentence. */
int must_check metricspush_token(struct metrics_receiver *r, const char *path, struct fault *f);
/* Negative errno with a sentence: nothing, or not all of it, has arrived. */
int must_check metricspush_metrics(struct metrics_receiver *r, const struct metrics_facts *facts, struct fault *f);
int must_check metricspush_events(struct metrics_receiver *r, struct store *s, const char *node, int64_t now_unix_ms,
				  struct fault *f);
/* True for an address that leads to this machine only: localhost, 127.…, [::1]. Pure. */
bool metricspush_is_local(const char *url);
