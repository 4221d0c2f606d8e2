/* Shared by the files that show stacks. */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "model/stacks/stackdump.h"
#include "tell/stacks/stack_show.h"

/* Writes text of a program without control characters, which must not reach the terminal. */
void stack_show_put_text(FILE *to, const char *text);
const char *stack_shade(const struct stack_show *how, const char *code);
bool stack_same_frame(const struct dump_frame *a, const struct dump_frame *b);
void stack_frame_text(const struct dump_frame *f, const struct stack_show *how, FILE *to);
struct js *stack_frame_json(const struct dump_frame *f);
