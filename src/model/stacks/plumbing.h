/*
 * Plumbing frames: native frames of the start of a process or thread, and of the code by which CPython calls one
 * function from another. They stand in every native stack of a Python program and say nothing about the program. C
 * functions that the program itself calls, of a library or built in, are not plumbing. Pure.
 */
#pragma once

#include "model/stacks/stackset.h"

/* True for a native frame of the python executable, libpython or libc whose name is in the list of known names. */
bool plumbing_is(const struct frame *f);
/*
 * A copy of the recording without plumbing; lanes and meta stay. The weight of a removed frame is added to the nearest
 * kept frame further out; a stack of plumbing only keeps its innermost frame. Frames of an interpreter without symbols
 * ("0x6516f0") are removed too if no frame further out is kept. The caller frees *ret. -ENOMEM.
 */
int must_check plumbing_fold(const struct stackset *s, struct stackset **ret);
