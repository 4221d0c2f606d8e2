/*
 * Whether the loss that a job printed was no number when it ended: what raises an exception soon after that (an
 * assertion, a draw from probabilities) is often told with words that do not say so.
 *
 * Pure; the input is the end of a log. Allocates nothing.
 */
#pragma once

#include "base/text.h"
#include "sense/death/facts.h"

/*
 * Fills a hint "loss_broken" with the first line from which on no loss is a number any more. False: no loss is in the
 * log, or the last one is a number. It has no line, as it is no message of an end. source, rank: as of deathlog_parse.
 */
bool losslog_parse(struct span tail, const char *source, int32_t rank, struct log_hint *ret);
