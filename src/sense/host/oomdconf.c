#include "sense/host/oomdconf.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"

/* "60%", "60.5%" or "600‰". A plain number is refused, as systemd refuses it. */
static bool percent_parse(struct span s, double *ret)
{
	double unit = 0;
	if (s.len > 3 && memcmp(s.p + s.len - 3, "\xe2\x80\xb0", 3) == 0) {
		unit = 1000;
		s.len -= 3;
	} else if (s.len > 1 && s.p[s.len - 1] == '%') {
		unit = 100;
		s.len -= 1;
	}
	uint64_t whole, tenths = 0;
	struct span integer = span_before(s, "."), fraction = span_after(s, ".");
	if (unit == 0 || span_u64(integer, &whole) != 0 || whole > 1000)
		return false;
	if (fraction.p && (fraction.len == 0 || fraction.len > 2 || span_u64(fraction, &tenths) != 0))
		return false;
	double value = (double)whole + (double)tenths / (fraction.len == 2 ? 100 : 10);
	if (value > unit)
		return false;
	*ret = value / unit;
	return true;
}

/* "20s", "1min 30s", "20" (seconds). Units larger than hours are refused. */
static bool seconds_parse(struct span s, double *ret)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"sec", 1}, {"ms", 0.001}, {"m", 60}, {"min", 60}, {"h", 3600}, {"hr", 3600}};
	double sum = 0;
	struct span word;
	bool any = false;
	while (span_word(&s, &word)) {
		uint64_t n;
		size_t digits = 0;
		while (digits < word.len && word.p[digits] >= '0' && word.p[digits] <= '9')
			digits++;
		struct span unit = {word.p + digits, word.len - digits};
		if (digits > 9 || span_u64((struct span){word.p, digits}, &n) != 0)
			return false;
		size_t u = 0;
		while (u < ARRAY_SIZE(units) && !span_eq(unit, units[u].unit))
			u++;
		if (u == ARRAY_SIZE(units))
			return false;
		sum += (double)n * units[u].seconds;
		any = true;
	}
	if (any)
		*ret = sum;
	return any;
}

void oomdconf_parse(struct span text, struct oomdconf *c)
{
	struct span line;
	bool section = false;
	while (span_line(&text, &line)) {
		line = span_trim(line);
		if (line.len == 0 || line.p[0] == '#' || line.p[0] == ';')
			continue;
		if (line.p[0] == '[') {
			section = span_eq(line, "[OOM]");
			continue;
		}
		struct span key = span_trim(span_before(line, "=")), value = span_after(line, "=");
		if (!section || !value.p)
			continue;
		value = span_trim(value);
		bool set = false;
		if (span_eq(key, "SwapUsedLimit") || span_eq(key, "SwapUsedLimitPercent"))
			set = percent_parse(value, &c->swap_used_limit_ratio);
		else if (span_eq(key, "DefaultMemoryPressureLimit") ||
			 span_eq(key, "DefaultMemoryPressureLimitPercent"))
			set = percent_parse(value, &c->pressure_limit_ratio);
		else if (span_eq(key, "DefaultMemoryPressureDurationSec"))
			set = seconds_parse(value, &c->pressure_duration_s);
		c->from_file |= set;
	}
}

static void file_apply(int dirfd, const char *path, struct oomdconf *c)
{
	char text[8192];
	size_t len;
	if (file_read_at(dirfd, path, text, sizeof(text), &len) == 0)
		oomdconf_parse((struct span){text, len}, c);
}

#define DROPINS_MAX 32
struct dropin {
	char name[NAME_MAX + 1];
	int folder;
};

static int dropin_compare(const void *a, const void *b)
{
	return strcmp(((const struct dropin *)a)->name, ((const struct dropin *)b)->name);
}

/* Adds the drop-ins of one folder, except names that a folder of higher precedence has too. */
static void dropins_list(const char *path, int folder, struct dropin *all, size_t *n)
{
	cleanup(closedirp) DIR *dir = opendir(path);
	if (!dir)
		return;
	for (struct dirent *e; (e = readdir(dir)) && *n < DROPINS_MAX;) {
		size_t len = strlen(e->d_name);
		bool seen = false;
		for (size_t i = 0; i < *n; i++)
			seen |= strcmp(all[i].name, e->d_name) == 0;
		if (seen || len < 6 || strcmp(e->d_name + len - 5, ".conf") != 0)
			continue;
		TEXT_COPY(all[*n].name, e->d_name);
		all[(*n)++].folder = folder;
	}
}

void oomdconf_read(const struct world *w, struct oomdconf *ret)
{
	static const char *const folders[] = {"/etc/systemd", "/run/systemd", "/usr/local/lib/systemd",
					      "/usr/lib/systemd"};
	struct oomdconf c = OOMDCONF_DEFAULT;
	struct dropin dropins[DROPINS_MAX];
	char path[sizeof(w->root) + NAME_MAX + 64];
	size_t n = 0;
	/* Only the main file of highest precedence is read. */
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		TEXT_FORMAT(path, "%s%s/oomd.conf", w->root, folders[i]);
		if (faccessat(AT_FDCWD, path, R_OK, 0) == 0) {
			file_apply(AT_FDCWD, path, &c);
			break;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		TEXT_FORMAT(path, "%s%s/oomd.conf.d", w->root, folders[i]);
		dropins_list(path, (int)i, dropins, &n);
	}
	qsort(dropins, n, sizeof(dropins[0]), dropin_compare);
	for (size_t i = 0; i < n; i++) {
		TEXT_FORMAT(path, "%s%s/oomd.conf.d/%s", w->root, folders[dropins[i].folder], dropins[i].name);
		file_apply(AT_FDCWD, path, &c);
	}
	*ret = c;
}
