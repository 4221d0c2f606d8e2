/*
 * The texts in /sys by which a performance monitoring unit says how its events are asked for and what they count: which
 * bits a term has ("config:0-7,32-35"), the terms of an event ("event=0x04,umask=0x03"), and what one count stands for
 * ("6.103515625e-5" of "MiB"). Kernel: ABI/testing/sysfs-bus-event_source-devices-events, -format. All pure.
 */
#pragma once

#include "base/text.h"

/* What perf_event_attr holds of it: config, config1, config2. */
struct pmuevent {
	uint64_t config[3];
};

struct pmuterm {
	char name[32]; /* of letters, digits, '_' and '-' */
	uint64_t value; /* 1 where the text has none */
};

/* Takes the next term off the front. 0; -ENOENT: there is none left; -EINVAL: what stands there is no term. */
int must_check pmuterm_next(struct span *rest, struct pmuterm *ret);
/* Puts a term into the bits that its format names. -EINVAL: it is no format, or the value does not fit. */
int must_check pmuevent_put(struct pmuevent *e, struct span format, uint64_t value);
/* "6.103515625e-5", whatever the locale. -EINVAL: no number above 0. */
int must_check pmuscale_parse(struct span text, double *ret);
/* Bytes in one of the unit: "MiB", "KiB", "GiB", "Bytes", "MB". -EINVAL: it is no amount of bytes. */
int must_check pmuunit_parse(struct span text, double *ret);
