#include "cli/options/hang_options.h"

#include "base/text.h"

/* The indices are enum hang_rule, enum on_hang and enum hang_end_by. */
const char *const hang_rule_choices[] = {"evidence", "io-gpu", NULL};
const char *const on_hang_choices[] = {"report", "kill", "restart", NULL};
const char *const on_hang_needs_choices[] = {"proof", "high", "medium", NULL};
const char *const on_adopted_hang_choices[] = {"report", "kill", NULL};

bool hang_settings_of(const struct hang_options *o, struct hang_settings *ret)
{
	*ret = (struct hang_settings){.rule = (enum hang_rule)o->rule, .end_by = (enum hang_end_by)o->needs};
	if (o->after != HANG_AFTER_BY_EVIDENCE) {
		ret->has_after = true;
		ret->after_ns = o->after;
	}
	return o->after != 0;
}

int hang_progress_check(const char *item, struct fault *f)
{
	struct progress_pattern p;
	char why[160] = "no memory";
	size_t at = 0;
	int r = progress_pattern_init(&p, span_of(item), why, &at);
	if (r < 0)
		return fault_set(f, r, "'%.80s', character %zu: %s", item, at + 1, why);
	progress_pattern_done(&p);
	return 0;
}
