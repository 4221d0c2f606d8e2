/*
 * What people who know GNU parallel type and `vigil map` reads in another way or has under another name. Each is told
 * in one sentence.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "agent/map/mapspec.h"
#include "cli/options/option.h"

/* The options of GNU parallel that are not there; for struct command. */
extern const struct option_absent map_absent[];

/* Says which word of the command a shell would have read, as there is none here. */
void map_hint_words(char *const *words, size_t n);
/* Says that inputs are to be typed, where they come from a terminal. */
void map_hint_terminal(const struct map_spec *spec);
