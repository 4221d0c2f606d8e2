/*
 * Parses the prefix of a line of a system log, in the forms of /dev/kmsg, dmesg (plain, -T, -x), journalctl (short,
 * short-iso, -k) and syslog files. Pure; spans are borrowed from the line.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"

struct logprefix {
	struct span text;  /* the message */
	struct span ident; /* "kernel", "systemd-oomd", … ; p is NULL if the line has none */
	pid_t pid;         /* of the writer; 0: unknown */
	bool has_mono;
	uint64_t mono_us;  /* kernel log clock */
	bool has_unix;
	int64_t unix_ms;   /* only in forms with year and zone */
	uint32_t facility; /* kmsg form only; 0 is the kernel */
};

/* A line without a known prefix is returned whole as text. */
void logprefix_parse(struct span line, struct logprefix *ret);

/* Reads n digits of s from offset `at`, for parsers of dates. False: there are fewer, or other bytes. */
bool logprefix_digits(struct span s, size_t at, size_t n, int64_t *ret);
/* Days from 1970-01-01 to a date in the Gregorian calendar. */
int64_t logprefix_days(int64_t y, int64_t m, int64_t d);
