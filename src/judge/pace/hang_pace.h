/*
 * Ranks that are slower than the others, and jobs that are slower than they were: a verdict by quick samples of what
 * the ranks' time is spent on (model/hang/waitshare).
 */
#pragma once

#include "judge/standstill/hang_settings.h"

struct hang_work;

void hang_pace_judge(struct hang_work *w);
/*
 * True when the quick samples (HANG_WANT_SHARES) can be judged. A hang that begins among them makes the rank that holds
 * up the others look slow, so steps after the last sample are waited for, as long as they are not missed; of long steps
 * enough have to be made since the first one. c->liveness may be the newest state; a case without samples can be judged
 * at once.
 */
bool hang_ripe(const struct hang_settings *s, const struct hang_history *m, const struct hang_case *c);
