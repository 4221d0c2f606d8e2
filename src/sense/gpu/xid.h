/*
 * Reads the errors that NVIDIA's kernel driver writes to the kernel log: "NVRM: Xid", and "SXid" for NVSwitches, in
 * all forms since driver R304. They contain the pid, which NVML's events do not, but not the MIG instance.
 *
 * Errors of one device with at most three minutes between them are one incident. Its cause is the first error that is
 * not a consequence of others (XID_FOLLOWS, such as Xid 45). Faults of programs (XID_APP) of which each names another
 * process are incidents of their own, unless an error of the device itself came before.
 *
 * Pure; allocates nothing. A full list drops its oldest error and counts it in n_dropped.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"

#define XID_GAP_MS INT64_C(180000)

enum xid_action {
	XID_UNKNOWN, /* not in our table */
	XID_APP, /* the program caused it or is the only one affected: restart it */
	XID_GPU_RESET, /* end the jobs on the GPU and reset it */
	XID_NODE, /* reboot or replace: the GPU is gone or broken */
	XID_SERVICE, /* the hardware needs a check: note it, drain the node if it repeats */
	XID_FOLLOWS, /* a consequence of another error */
};

struct xid {
	uint32_t number;
	bool is_switch; /* an SXid of an NVSwitch; these are numbered separately */
	char pci[24]; /* "0000:17:00" */
	pid_t pid; /* in the outermost pid namespace; 0: not reported */
	char process[48];
	char text[160]; /* the rest of the message */
	int64_t time_unix_ms; /* 0: unknown */
	/* Set by xid_group: */
	uint32_t incident; /* counted from 1 */
	bool cause; /* it is the cause of its incident */
};

/* Parses one log message without its prefix. False if it is no Xid. */
bool xid_parse(struct span text, struct xid *ret);
/* A list in memory of the caller: out has room for cap errors. */
struct xids {
	struct xid *out;
	size_t cap, n, n_dropped;
};
void xids_add(struct xids *x, const struct xid *one);
/* Sets incident and cause of x[0..n), which are sorted oldest first. */
void xid_group(struct xid *x, size_t n);

enum xid_action xid_action(const struct xid *x);
const char *xid_action_name(enum xid_action a);
/* One sentence: what the error means and what to do; NULL if its number is not known. */
const char *xid_meaning(const struct xid *x);
