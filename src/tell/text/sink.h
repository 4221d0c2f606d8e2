/*
 * A stream that many small pieces of text are written to. It remembers the
 * first error (a full disk, a closed pipe) as -errno and writes nothing more,
 * so that writers look once, at the end. Text of programs goes through the
 * escaping functions: bytes that are no UTF-8 become '?', and so do control
 * characters and those that turn the reading direction in XML.
 */
#pragma once

#include <stdio.h>

#include "base/base.h"

struct sink {
	FILE *to; /* borrowed */
	int r;
	bool html; /* sink_json: '<' as an escape, so that no tag can begin inside a script element */
	size_t len;
	char bytes[16384];
};

void sink_open(struct sink *s, FILE *to);
void sink_bytes(struct sink *s, const void *data, size_t len);
void sink_text(struct sink *s, const char *text);
void sink_u64(struct sink *s, uint64_t v);
void sink_i64(struct sink *s, int64_t v);
/* Writes a decimal point whatever the locale is; null if v is not finite. */
void sink_double(struct sink *s, double v, int decimals);
/* Quoted, as a JSON string. */
void sink_json(struct sink *s, const char *text);
/* For XML and HTML, in text and in quoted attributes; cut with "…" after max bytes. */
void sink_xml(struct sink *s, const char *text, size_t max);
/* Flushes everything to the kernel. Returns the first error. */
int must_check sink_close(struct sink *s);
