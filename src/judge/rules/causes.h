/*
 * Chooses the cause among what the rule book found: roots before what follows from them, earlier before later. Other
 * rules' matches and facts raise or lower the confidence, never above what the rule allows. Pure.
 */
#pragma once

#include "model/rules/cause.h"

enum {
	CAUSES_NONE = 1, /* nothing was found that could be the cause */
};

int must_check causes_judge(const struct cause_set *s, struct cause_verdict *ret);
/*
 * How long an InfiniBand queue pair waits in all before completion error 12:
 * 4.096 us * 2^exponent for each of its tries. 0 for an exponent over 31.
 */
double causes_ib_timeout_s(uint32_t exponent, uint32_t retries);
