/* Names for the facts that the probe found about this machine. */
#pragma once

#include "sense/host/probe.h"

const char *oom_daemon_name(enum oom_daemon_kind k); /* "systemd-oomd" */
/* One clause that says when it kills and what. */
const char *oom_daemon_rule(enum oom_daemon_kind k);
/* "v1", "v2", "hybrid (memory on v1)", "none" */
const char *machine_cgroup_layout(const struct probe *p);
