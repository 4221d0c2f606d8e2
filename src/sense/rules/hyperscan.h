/*
 * The few calls of Hyperscan that sense/rules/literalset wants, by dlopen. The only
 * user of the library. Not for use by others.
 */
#pragma once

#include "base/text.h"
#include "sense/rules/literal.h"

struct hyperscan;

/* LITERAL_ABSENT when the library is not there, too old or refuses this processor. */
int must_check hyperscan_new(const struct literal *l, size_t n, struct hyperscan **ret);
struct hyperscan *hyperscan_free(struct hyperscan *h);
int must_check hyperscan_scan(struct hyperscan *h, struct span text, literal_found *found, void *data);
