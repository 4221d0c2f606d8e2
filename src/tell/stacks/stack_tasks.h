/*
 * The asyncio tasks of a process in `vigil stack`: for people below the thread that runs their loop, for programs as
 * `tasks` of vigil.stacks/1 (docs/json.md).
 */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "model/stacks/stackdump.h"
#include "tell/stacks/stack_show.h"

/* Those of one thread; tid 0: of no known one. Tasks that stand in the same place are shown once. */
void stack_tasks_text(const struct dump_process *p, pid_t tid, const struct stack_show *how, FILE *to);
struct js *stack_tasks_json(const struct dump_process *p);
