/*
 * Frames of the interpreter's own plumbing: the start of a process and of its threads, and the code by which CPython
 * calls one function from another. They stand in every native stack of a Python program and say nothing about what the
 * program does. C functions that the program calls, of a library or built in, are no plumbing. Pure.
 */
#pragma once

#include "model/stacks/stackset.h"

/* True for a native frame of the python executable, libpython or libc's start-up whose name is one of those known. */
bool plumbing_is(const struct frame *f);
/*
 * A copy of the recording without plumbing; lanes and meta stay. The weight of a left-out frame counts for the nearest
 * kept frame further out; a stack of plumbing alone keeps its innermost frame. Frames of an interpreter without symbols
 * ("0x6516f0") are plumbing too where no frame further out is kept. -ENOMEM.
 */
int must_check plumbing_fold(const struct stackset *s, struct stackset **ret);
