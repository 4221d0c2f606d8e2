#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* A plain decimal number; no hex, no "inf", no sign. */
static int number_parse(const char *text, double *ret, const char **ret_end)
{
	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return -EINVAL;
	double v = 0, scale = 1;
	bool dot = false, digit = false;
	const char *p = text;
	for (; isdigit((unsigned char)*p) || (*p == '.' && !dot); p++) {
		if (*p == '.') {
			dot = true;
			continue;
		}
		digit = true;
		if (dot)
			v += (*p - '0') * (scale /= 10);
		else
			v = v * 10 + (*p - '0');
	}
	if (!digit)
		return -EINVAL;
	*ret = v;
	*ret_end = p;
	return 0;
}

static bool size_unit(const char *unit, double *ret_factor)
{
	static const char letters[] = "kmgtp";
	if (*unit == '\0' || strcasecmp(unit, "b") == 0) {
		*ret_factor = 1;
		return true;
	}
	const char *at = strchr(letters, tolower((unsigned char)unit[0]));
	if (!at)
		return false;
	const char *tail = unit + 1;
	if (*tail != '\0' && strcasecmp(tail, "b") != 0 && strcasecmp(tail, "ib") != 0)
		return false;
	*ret_factor = ldexp(1, (int)(at - letters + 1) * 10);
	return true;
}

int size_parse(const char *text, uint64_t *ret_bytes, struct fault *f)
{
	double v, factor;
	const char *end;
	if (number_parse(text, &v, &end) < 0)
		return fault_set(f, -EINVAL, "'%s' is not a size; write for example 512M, 1.5G or 2GiB", text);
	while (*end == ' ')
		end++;
	if (!size_unit(end, &factor))
		return fault_set(f, -EINVAL, "'%s' is not a size: unknown unit '%s'; use K, M, G, T or P", text, end);
	if (v * factor >= ldexp(1, 63))
		return fault_set(f, -ERANGE, "'%s' is larger than any machine; use at most 8191P", text);
	*ret_bytes = (uint64_t)(v * factor);
	return 0;
}

int ratio_parse(const char *text, double *ret_ratio, struct fault *f)
{
	double v;
	const char *end;
	if (number_parse(text, &v, &end) < 0 || (*end != '\0' && strcmp(end, "%") != 0))
		return fault_set(f, -EINVAL, "'%s' is not a ratio; write for example 0.95 or 95%%", text);
	if (*end == '%')
		v /= 100;
	if (v > 1)
		return fault_set(f, -ERANGE, "'%s' is more than 1; a ratio lies between 0 and 1 (or 0%% and 100%%)",
				 text);
	*ret_ratio = v;
	return 0;
}

int duration_parse(const char *text, uint64_t *ret_ns, struct fault *f)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {
		{"", 1e9},   {"s", 1e9},    {"ms", 1e6},   {"us", 1e3},
		{"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9},
	};
	double v;
	const char *end;
	if (number_parse(text, &v, &end) < 0)
		return fault_set(f, -EINVAL, "'%s' is not a time; write for example 30s, 5m or 2h", text);
	while (*end == ' ')
		end++;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcasecmp(end, units[i].unit) != 0)
			continue;
		if (v * units[i].ns >= ldexp(1, 62))
			return fault_set(f, -ERANGE, "'%s' is longer than a century", text);
		*ret_ns = (uint64_t)(v * units[i].ns);
		return 0;
	}
	return fault_set(f, -EINVAL, "'%s' is not a time: unknown unit '%s'; use ms, s, m, h or d", text, end);
}

char *size_format(uint64_t bytes, char dst[static 16])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double v = (double)bytes;
	size_t u = 0;
	while (v >= 1024 && u + 1 < ARRAY_SIZE(units)) {
		v /= 1024;
		u++;
	}
	int digits = u == 0 ? 0 : v < 10 ? 2 : v < 100 ? 1 : 0;
	(void)snprintf(dst, 16, "%.*f %s", digits, v, units[u]);
	return dst;
}

char *size_format_gb(uint64_t bytes, char dst[static 24])
{
	(void)snprintf(dst, 24, "%.2fGB", (double)bytes / (double)GIB);
	return dst;
}

char *duration_format(uint64_t ns, char dst[static 24])
{
	double s = (double)ns / 1e9;
	if (s < 0.001)
		(void)snprintf(dst, 24, "%.0f us", s * 1e6);
	else if (s < 0.01)
		(void)snprintf(dst, 24, "%.1f ms", s * 1e3);
	else if (s < 1)
		(void)snprintf(dst, 24, "%.0f ms", s * 1e3);
	else if (s < 60)
		(void)snprintf(dst, 24, "%.1f s", s);
	else if (s < 3600)
		(void)snprintf(dst, 24, "%d m %02d s", (int)s / 60, (int)s % 60);
	else if (s < 3 * 86400.0)
		(void)snprintf(dst, 24, "%.0f h %02d m", floor(s / 3600), (int)fmod(s, 3600) / 60);
	else
		(void)snprintf(dst, 24, "%.0f d %02d h", floor(s / 86400), (int)fmod(s, 86400) / 3600);
	return dst;
}

char *ago_format(uint64_t ns, char dst[static 32])
{
	char time[24];
	if (ns < NS_PER_MS)
		(void)snprintf(dst, 32, "now");
	else
		(void)snprintf(dst, 32, "%s ago", duration_format(ns, time));
	return dst;
}

char *rate_format(double per_s, char dst[static 24])
{
	(void)snprintf(dst, 24, per_s < 10 ? "%.2g/s" : "%.0f/s", per_s);
	return dst;
}

char *time_format(int64_t unix_ms, char dst[static 24])
{
	time_t t = (time_t)(unix_ms / 1000);
	struct tm tm;
	dst[0] = '\0';
	/* a year of ten digits does not fit and leaves dst undefined */
	if (!localtime_r(&t, &tm) || strftime(dst, 24, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		dst[0] = '\0';
	return dst;
}

char *time_format_utc(int64_t unix_ms, char dst[static 32])
{
	time_t t = (time_t)(unix_ms / 1000);
	struct tm tm;
	char day[24] = "";
	if (!gmtime_r(&t, &tm) || strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		day[0] = '\0';
	(void)snprintf(dst, 32, "%s.%03dZ", day, (int)(unix_ms % 1000));
	return dst;
}
