/*
 * What stands before the message in a line of a system log: the forms of
 * /dev/kmsg, dmesg (plain, -T, -x), journalctl (short, short-iso, -k) and
 * syslog files. Pure; borrowed spans.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"

struct logprefix {
	struct span text;  /* the message */
	struct span ident; /* "kernel", "systemd-oomd", … ; empty p if the line does not say */
	pid_t pid;         /* of the writer; 0 unknown */
	bool has_mono;
	uint64_t mono_us;  /* kernel log clock */
	bool has_unix;
	int64_t unix_ms;   /* only from forms that carry year and zone */
	uint32_t facility; /* kmsg form only; 0 is the kernel */
};

/* A line with no known prefix comes back whole as text. */
void logprefix_parse(struct span line, struct logprefix *ret);

/* What dates are made of, for other readers of log lines: n digits of s from `at` on; false: not so many, or others. */
bool logprefix_digits(struct span s, size_t at, size_t n, int64_t *ret);
/* Days since 1970-01-01 of a date in the Gregorian calendar. */
int64_t logprefix_days(int64_t y, int64_t m, int64_t d);
