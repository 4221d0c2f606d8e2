/* Namespaces that have the same inode number on every kernel. */
#pragma once

#include "base/base.h"

/* Inode of the machine's first pid namespace (include/linux/proc_ns.h: PROC_PID_INIT_INO, fixed since Linux 3.8). */
#define PID_NAMESPACE_FIRST UINT64_C(4026531836)
/* The same, as the link /proc/PID/ns/pid shows it. */
#define PID_NAMESPACE_FIRST_TEXT "pid:[4026531836]"
