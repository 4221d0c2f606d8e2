/*
 * What we know about the machine vigil runs on: the probe's answers, and the
 * words for them.
 */
#pragma once

#include "sense/host/probe.h"

const char *oom_daemon_name(enum oom_daemon_kind k); /* "systemd-oomd" */
/* One clause: when and what it kills. */
const char *oom_daemon_rule(enum oom_daemon_kind k);
/* "v1", "v2", "hybrid (memory on v1)", "none" */
const char *machine_cgroup_layout(const struct probe *p);
