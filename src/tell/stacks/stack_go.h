/*
 * The goroutines of a process in `vigil stack`: for people below its threads, for programs as `goroutines` of
 * vigil.stacks/1 (docs/json.md).
 */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "model/stacks/stackdump.h"
#include "tell/stacks/stack_show.h"

/* The runtime's own are only counted, unless all threads are asked for. */
void stack_go_text(const struct dump_process *p, const struct stack_show *how, FILE *to);
struct js *stack_go_json(const struct dump_process *p);
