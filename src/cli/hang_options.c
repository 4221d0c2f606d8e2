#include "cli/hang_options.h"

/* The indices are enum hang_rule and enum on_hang. */
const char *const hang_rule_choices[] = {"evidence", "io-gpu", NULL};
const char *const on_hang_choices[] = {"report", "kill", "restart", NULL};

bool hang_settings_of(const struct hang_options *o, struct hang_settings *ret)
{
	*ret = (struct hang_settings){.rule = (enum hang_rule)o->rule};
	if (o->after != HANG_AFTER_BY_EVIDENCE) {
		ret->has_after = true;
		ret->after_ns = o->after;
	}
	return o->after != 0;
}
