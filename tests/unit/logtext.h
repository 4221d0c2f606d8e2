/* Feeds a whole text of kmsg records, dmesg or journal lines to the readers of single messages. */
#pragma once

#include "sense/death/killerlog.h"
#include "sense/death/oomlog.h"
#include "sense/log/kmsg.h"
#include "sense/log/logprefix.h"

/* offset_ms: what to add to kernel times to get unix milliseconds. 0: the line has no time. */
static inline int64_t logtext_time(const struct logprefix *p, int64_t offset_ms)
{
	if (p->has_unix)
		return p->unix_ms;
	return p->has_mono ? (int64_t)(p->mono_us / 1000) + offset_ms : 0;
}

/* Only the kernel's own lines are fed. */
static inline void logtext_oomlog(struct oomlog *o, struct span text, int64_t offset_ms)
{
	struct span line;
	while (span_line(&text, &line)) {
		struct logprefix p;
		char plain[1024];
		logprefix_parse(line, &p);
		if (p.facility != 0 || (p.ident.p && !span_eq(p.ident, "kernel")))
			continue;
		size_t n = kmsg_unescape(p.text, plain, sizeof(plain));
		oomlog_line(o, (struct span){plain, n}, logtext_time(&p, offset_ms));
	}
}

static inline void logtext_killerlog(struct killerlog *k, struct span text, int64_t offset_ms)
{
	struct span line;
	while (span_line(&text, &line)) {
		struct logprefix p;
		logprefix_parse(line, &p);
		killerlog_line(k, p.ident, p.text, logtext_time(&p, offset_ms));
	}
}
