/*
 * Errors of NVIDIA's kernel driver in the kernel log (NVRM: Xid, and SXid of
 * its switches), all forms since R304. They tell the pid, which the event set
 * of NVML does not; they tell nothing of MIG instances.
 *
 * Errors of one device with at most three minutes between them are one
 * incident, and its cause is the first that is not a mere consequence (45).
 *
 * Pure; allocates nothing. Newest kept: a flood counts in n_dropped.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"

#define XID_GAP_MS INT64_C(180000)

enum xid_action {
	XID_UNKNOWN, /* not in our table */
	XID_APP, /* the program did it, or it alone is hit: restart it */
	XID_GPU_RESET, /* end the jobs on the GPU and reset it */
	XID_NODE, /* reboot or replace: the GPU is gone or broken */
	XID_SERVICE, /* the hardware wants a look: note it, drain when it comes again */
	XID_FOLLOWS, /* a consequence of another */
};

struct xid {
	uint32_t number;
	bool is_switch; /* SXid: of an NVSwitch, with numbers of its own */
	char pci[24]; /* "0000:17:00" */
	pid_t pid; /* of the outermost namespace; 0: not told */
	char process[48];
	char text[160]; /* what follows */
	int64_t time_unix_ms; /* 0: unknown */
	/* xid_group */
	uint32_t incident; /* from 1 */
	bool cause; /* of its incident */
};

/* One message without its prefix. False if it is none. */
bool xid_parse(struct span text, struct xid *ret);
/* A whole text of kmsg records, dmesg or journal lines; only the kernel's own count. */
struct xids {
	struct xid *out;
	size_t cap, n, n_dropped;
};
void xids_add(struct xids *x, const struct xid *one);
/* Numbers the incidents of what lies oldest first. */
void xid_group(struct xid *x, size_t n);

enum xid_action xid_action(const struct xid *x);
const char *xid_action_name(enum xid_action a);
/* What it means and what to do, one sentence; NULL if not known. */
const char *xid_meaning(const struct xid *x);
