/*
 * What the recognisers of killerlog share: each takes one message and fills
 * what it says into *l. killerlog.c alone includes this, beside the parts.
 */
#pragma once

#include "sense/death/killerlog.h"

/* "12.5", "57.97%" at the front of s, 0..1e12; a '%' divides by 100. */
bool killer_number(struct span s, double *ret);
/* "pid=123", "pid: 123": a process id at the front of s. */
bool killer_pid(struct span s, pid_t *ret);
/* "20s", "1min 30s", "500ms" as systemd prints spans. 0 if it is none. */
uint64_t killer_span_ms(struct span s);
/* "27.71GB" in Ray's manner (2^30). 0 if it is none. */
uint64_t killer_gb(struct span s);

bool killer_oomd_line(struct span text, struct killer_line *l);
bool killer_unit_line(struct span text, struct killer_line *l);
bool killer_earlyoom_line(struct span text, struct killer_line *l);
bool killer_fault_line(struct span text, struct killer_line *l);
bool killer_meta_line(struct span text, struct killer_line *l);
bool killer_slurm_line(struct span text, struct killer_line *l);
bool killer_kube_line(struct span text, struct killer_line *l);
/* These keep state; they put their results out themselves. */
bool killer_nohang_line(struct killerlog *k, struct span text, struct killer_line *l);
size_t killer_ray_lines(struct killerlog *k, struct span text, struct killer_line *l, size_t cap);
