/*
 * Whom a thread waits for, in `vigil stack`: a line under the thread for people, `waits_for` of vigil.stacks/1 for
 * programs. From the same graph as `vigil waits`, of one look.
 */
#pragma once

#include "base/json.h"
#include "model/hang/waitgraph.h"

/*
 * "waits for rank 2 (process 812): recv, tcp 10.0.0.3:4000 -> 10.0.0.7:29500". "": it runs, sleeps, or the kernel's own
 * words say as much. g may be NULL.
 */
void stack_waits_line(const struct waitgraph *g, pid_t pid, pid_t tid, char *dst, size_t cap);
/* NULL: it runs or sleeps, or nothing is known. */
struct js *stack_waits_json(const struct waitgraph *g, pid_t pid, pid_t tid);
/* What a thread waits in, `text`; without the remark that a futex does not tell its holder where the graph knows it. */
const char *stack_waits_in(const struct waitgraph *g, pid_t pid, pid_t tid, const char *text);
