/* Shared by the files that show stacks. */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "model/stacks/stackdump.h"
#include "tell/stacks/stack_show.h"

const char *stack_shade(const struct stack_show *how, const char *code);
bool stack_same_frame(const struct dump_frame *a, const struct dump_frame *b);
void stack_frame_text(const struct dump_frame *f, const struct stack_show *how, FILE *to);
struct js *stack_frame_json(const struct dump_frame *f);
