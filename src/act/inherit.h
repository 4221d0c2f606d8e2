/*
 * What whoever starts vigil may have set for it, and what would have it fail in the middle: descriptors 0 to 2 that are
 * closed, so that a file of vigil's would become its output; SIGCHLD ignored, so that no end of a child is told; limits
 * of a file's size and of processor time, whose signals end a process; a limit of the stack that is too small, and one
 * of open files: 64 jobs take more than the usual 1,024. sudo(8) passes all of this on. Programs of others get it back.
 */
#pragma once

/* First of all. What stood for a closed descriptor cannot be read from, or written to. */
void inherit_mend(void);
/*
 * call(argc, argv), whose result is returned; on a stack of vigil's own, also in processes forked from it, where the
 * limit is too small still: a hard one, which root in a container may not raise either. After inherit_mend.
 */
int inherit_call(int (*call)(int, char **), int argc, char **argv);
/* Between fork and exec of a program that is not vigil. System calls only. */
void inherit_undo(void);
