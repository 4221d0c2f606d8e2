/*
 * Signals by name, both ways: the names that shells, kernels and Python print
 * ("SIGKILL", "KILL", "Killed", "Bus error", "9").
 */
#pragma once

#include "base/text.h"

/* "SIGKILL", "SIGRTMIN+3"; "signal 33" style names are not made: NULL for a number without a name. */
const char *signame(int sig);
/* 0 if it names no signal. */
int signame_parse(struct span s);
