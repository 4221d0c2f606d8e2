/* The numbers in killers' messages: ratios, process ids, time spans, sizes. */
#include "sense/death/killerlog_parts.h"

bool killer_number(struct span s, double *ret)
{
	uint64_t whole, frac = 0, unit = 1;
	size_t at = 0;
	if (span_u64_prefix(s, &whole) < 0 || whole > UINT64_C(1000000000000))
		return false;
	while (at < s.len && s.p[at] >= '0' && s.p[at] <= '9')
		at++;
	if (at < s.len && s.p[at] == '.')
		for (at++; at < s.len && s.p[at] >= '0' && s.p[at] <= '9'; at++)
			if (unit < 1000000000) {
				frac = frac * 10 + (uint64_t)(s.p[at] - '0');
				unit *= 10;
			}
	double v = (double)whole + (double)frac / (double)unit;
	*ret = at < s.len && s.p[at] == '%' ? v / 100 : v;
	return true;
}

bool killer_pid(struct span s, pid_t *ret)
{
	uint64_t v;
	if (span_u64_prefix(span_trim(s), &v) < 0 || v == 0 || v > INT32_MAX)
		return false;
	*ret = (pid_t)v;
	return true;
}

uint64_t killer_span_ms(struct span s)
{
	static const struct {
		const char *name;
		uint64_t ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"min", 60000}, {"h", 3600000}};
	uint64_t total = 0;
	struct span w;
	while (span_word(&s, &w)) {
		uint64_t v;
		size_t n = 0, i;
		if (span_u64_prefix(w, &v) < 0 || v > 1000000)
			break;
		while (n < w.len && ((w.p[n] >= '0' && w.p[n] <= '9') || w.p[n] == '.'))
			n++;
		for (i = 0; i < ARRAY_SIZE(units); i++)
			if (span_eq((struct span){w.p + n, w.len - n}, units[i].name))
				break;
		if (i == ARRAY_SIZE(units))
			break;
		total += v * units[i].ms;
	}
	return total;
}

uint64_t killer_gb(struct span s)
{
	double v;
	if (!killer_number(s, &v) || v > 1e9)
		return 0;
	size_t n = 0;
	while (n < s.len && ((s.p[n] >= '0' && s.p[n] <= '9') || s.p[n] == '.'))
		n++;
	return span_starts((struct span){s.p + n, s.len - n}, "GB") ? (uint64_t)(v * (double)GIB) : 0;
}
