/* What was seen of a job that was watched: words for people, and for programs "watched" in vigil.findings/1. */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "model/speed/speedfacts.h"

/* What the sums of the judge say (judge/speed), which this layer does not know. */
struct speedshow {
	const struct speedfacts *facts;
	double run, queued, wanted, room; /* cores */
};

struct js *speedshow_json(const struct speedshow *s);
void speedshow_text(const struct speedshow *s, FILE *to);
