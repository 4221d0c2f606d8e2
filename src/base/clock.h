/*
 * The clocks: monotonic nanoseconds for intervals, unix milliseconds for times shown to people. For layers that may
 * read the outside world only.
 */
#pragma once

#include "base/base.h"

uint64_t clock_mono_ns(void);
/* CLOCK_BOOTTIME, the base of a process's start time in /proc/PID/stat. */
uint64_t clock_boot_ns(void);
/* Processor time of the calling thread. */
uint64_t clock_thread_ns(void);
int64_t clock_unix_ms(void);
