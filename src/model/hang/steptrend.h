/*
 * How a job's steps became longer: at once, as when a disk, a server or a neighbour becomes slow, or little by little, as
 * when a plan lengthens the sequences, or something grows with each step. Pure; no allocation.
 */
#pragma once

#include <stddef.h>

/*
 * The most by which eight steps in a row took longer than the eight before them, of step times oldest first: the middle
 * ones are compared, so that single long steps count for nothing. 0: never, or there are fewer than sixteen.
 */
double steptrend_jump(const double *step_s, size_t n);
