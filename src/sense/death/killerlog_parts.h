/*
 * Private to the files of killerlog: the recognisers and the readers of numbers. A recogniser takes one message of a
 * log and fills *l with what it says; false: the message is not one of its killer's.
 */
#pragma once

#include "sense/death/killerlog.h"

/* "12.5", "57.97%" at the front of s, 0..1e12; a '%' divides by 100. False: there is no such number. */
bool killer_number(struct span s, double *ret);
/* A process id, 1..INT32_MAX, at the front of s; blanks before it are skipped. */
bool killer_pid(struct span s, pid_t *ret);
/* "20s", "1min 30s", "500ms" as systemd prints time spans. 0: s is no time span. */
uint64_t killer_span_ms(struct span s);
/* "27.71GB" in bytes; Ray's GB is 2^30 bytes. 0: s is no size. */
uint64_t killer_gb(struct span s);

bool killer_oomd_line(struct span text, struct killer_line *l);
bool killer_unit_line(struct span text, struct killer_line *l);
bool killer_slurm_line(struct span text, struct killer_line *l);
bool killer_kube_line(struct span text, struct killer_line *l);
/* Keeps the state of Ray's block in k; fills up to cap results and returns how many. */
size_t killer_ray_lines(struct killerlog *k, struct span text, struct killer_line *l, size_t cap);
