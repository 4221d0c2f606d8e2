/*
 * Sizes, ratios and times as people write and read them.
 *
 * Sizes: "512", "1.5G", "256MiB", "2g": binary multiples (K M G T P), B and
 * iB optional. Ratios: "0.95" or "95%". Times: "90" (seconds), "500ms",
 * "20s", "5m", "2h", "1d".
 */
#pragma once

#include "base/base.h"
#include "base/fault.h"

int must_check size_parse(const char *text, uint64_t *ret_bytes, struct fault *f);
int must_check ratio_parse(const char *text, double *ret_ratio, struct fault *f);
int must_check duration_parse(const char *text, uint64_t *ret_ns, struct fault *f);

/* "1.25 GiB": at most 16 bytes with the NUL. Returns dst. */
char *size_format(uint64_t bytes, char dst[static 16]);
/* "1.25GB" in Ray's manner: units of 2^30, two decimals. */
char *size_format_gb(uint64_t bytes, char dst[static 24]);
/* "320 ms", "12.4 s", "3 m 20 s", "2 h 05 m", "30 d 00 h". */
char *duration_format(uint64_t ns, char dst[static 24]);
/* How long ago something was: "12.4 s ago"; "now" below a millisecond. */
char *ago_format(uint64_t ns, char dst[static 32]);
/* "0.52/s", "1.9/s", "240/s": steps and the like. */
char *rate_format(double per_s, char dst[static 24]);
/* "2026-11-20 10:04:41" in local time. */
char *time_format(int64_t unix_ms, char dst[static 24]);
/* "2026-11-20T10:04:41.123Z" */
char *time_format_utc(int64_t unix_ms, char dst[static 32]);
