/*
 * Frames of the interpreter's own plumbing: how a process and its threads start, and how CPython calls one function from
 * another. They stand in every native stack of a Python program and say nothing about what the program does. C functions
 * that the program calls (a library's, a built-in's) are none of it. Pure.
 */
#pragma once

#include "model/stacks/stackset.h"

/* True for a native frame of the python executable, libpython or libc's start-up whose name is one of those known. */
bool plumbing_is(const struct frame *f);
/*
 * A copy of the recording without plumbing; lanes and meta stay. Weights of a left-out frame count for the nearest frame
 * further out that is kept; a stack of nothing else keeps its innermost frame. Nameless frames of the interpreter (its
 * symbols are stripped) are plumbing too where no frame further out is kept. -ENOMEM.
 */
int must_check plumbing_fold(const struct stackset *s, struct stackset **ret);
