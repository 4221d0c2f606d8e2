#include "judge/map/halt.h"

#include <string.h>

#include "base/text.h"
#include "base/units.h"

static int halt_wrong(const char *text, struct fault *f)
{
	return fault_set(
		f, -EINVAL,
		"'%.60s': expected never, or soon or now, then fail, success or done with a number or a share, as "
		"in now,fail=1 or soon,fail=20%%",
		text);
}

static int halt_amount(struct span s, const char *text, struct halt *ret, struct fault *f)
{
	char copy[32];
	if (s.len == 0 || s.len >= sizeof(copy))
		return halt_wrong(text, f);
	span_copy(s, copy, sizeof(copy));
	if (s.p[s.len - 1] != '%') {
		int r = span_u64(s, &ret->count);
		return r < 0 || ret->count == 0 ? halt_wrong(text, f) : 0;
	}
	struct fault inner;
	int r = ratio_parse(copy, &ret->share_ratio, &inner);
	return r < 0 || !(ret->share_ratio > 0 && ret->share_ratio <= 1) ? halt_wrong(text, f) : 0;
}

/* The numbers of old versions of parallel. */
static bool halt_short(const char *text, struct halt *ret)
{
	static const struct {
		const char *text;
		struct halt halt;
	} old[] = {{"1", {.when = HALT_SOON, .what = HALT_FAIL, .count = 1}},
		   {"2", {.when = HALT_NOW, .what = HALT_FAIL, .count = 1}},
		   {"-1", {.when = HALT_SOON, .what = HALT_SUCCESS, .count = 1}},
		   {"-2", {.when = HALT_NOW, .what = HALT_SUCCESS, .count = 1}}};
	for (size_t i = 0; i < ARRAY_SIZE(old); i++)
		if (strcmp(text, old[i].text) == 0) {
			*ret = old[i].halt;
			return true;
		}
	return false;
}

int halt_parse(const char *text, struct halt *ret, struct fault *f)
{
	static const char *const whats[] = {"fail", "success", "done"};
	struct halt h = {.when = HALT_NEVER, .count = 0};
	const char *comma = strchr(text, ',');
	if (strcmp(text, "never") == 0 || strcmp(text, "0") == 0) {
		*ret = h;
		return 0;
	}
	if (halt_short(text, ret))
		return 0;
	if (!comma && text[0] != '\0' && text[strlen(text) - 1] == '%') {
		h = (struct halt){.when = HALT_SOON, .what = HALT_FAIL};
		int r = halt_amount(span_of(text), text, &h, f);
		if (r == 0)
			*ret = h;
		return r;
	}
	struct span when = {text, comma ? (size_t)(comma - text) : strlen(text)};
	h.when = span_eq(when, "soon") ? HALT_SOON : span_eq(when, "now") ? HALT_NOW : HALT_NEVER;
	if (h.when == HALT_NEVER || !comma)
		return halt_wrong(text, f);
	struct span rest = span_of(comma + 1), what = span_before(rest, "="), amount = span_after(rest, "=");
	size_t i = 0;
	while (i < ARRAY_SIZE(whats) && !span_eq(what, whats[i]))
		i++;
	if (i == ARRAY_SIZE(whats))
		return halt_wrong(text, f);
	h.what = (enum halt_what)i;
	h.count = 1;
	int r = 0;
	if (amount.p) {
		h.count = 0;
		r = halt_amount(amount, text, &h, f);
	}
	if (r == 0)
		*ret = h;
	return r;
}

enum halt_when halt_judge(const struct halt *h, uint64_t failed, uint64_t succeeded, uint64_t total)
{
	uint64_t n = h->what == HALT_FAIL ? failed : h->what == HALT_SUCCESS ? succeeded : failed + succeeded;
	bool reached = h->count > 0 ? n >= h->count : n > 0 && total > 0 && (double)n >= h->share_ratio * (double)total;
	return reached ? h->when : HALT_NEVER;
}

int map_exit_status(const struct halt *h, const struct map_tally *t, uint64_t total)
{
	if (t->stop_signal)
		return 128 + t->stop_signal;
	if (t->halted && (h->count == 1 || h->what == HALT_SUCCESS))
		return h->count == 1 ? t->halt_status : 0;
	if (t->for_memory)
		return 137;
	const uint64_t all = t->halted && total > 0 ? total : t->failed + t->succeeded;
	if (h->when != HALT_NEVER && h->count == 0 && all > 0)
		return (int)((t->failed * 100 + all - 1) / all);
	return (int)MIN(t->failed, UINT64_C(101));
}
