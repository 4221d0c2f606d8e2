/* Searches with the library Hyperscan, which is loaded with dlopen. Only sense/rules/literalset uses this. */
#pragma once

#include "base/text.h"
#include "sense/rules/literal.h"

struct hyperscan;

/* LITERAL_ABSENT: the library is not installed, too old or does not support this processor. -ENOMEM. */
int must_check hyperscan_new(const struct literal *l, size_t n, struct hyperscan **ret);
struct hyperscan *hyperscan_free(struct hyperscan *h);
int must_check hyperscan_scan(struct hyperscan *h, struct span text, literal_found *found, void *data);
