/* Findings for programs ("vigil.findings/1") and for people. Pure but for the stream. */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "model/host/finding.h"

/* The array alone, to be put into another object. */
struct js *findings_array_json(const struct findings *all);
struct js *findings_json(const struct findings *all);
/* One paragraph each: severity, text, evidence, advice. */
void findings_text(const struct findings *all, bool colour, FILE *to);
