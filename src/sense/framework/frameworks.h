/*
 * Which frameworks a process has loaded, by the names of the libraries that it has mapped: what makes a framework that
 * framework is in one of them, whatever started it and however its program is called.
 *
 * Pure. Names: pytorch, tensorflow, jax, paddle, mindspore, mxnet, ray.
 */
#pragma once

#include "sense/proc/maps.h"

#define FRAMEWORKS_TEXT 80

/* A set of bits; 0: none that is known. */
uint32_t frameworks_of(const struct maps *m);
/* "pytorch", "pytorch+ray"; "" for none. Returns dst. */
char *frameworks_text(uint32_t set, char dst[static FRAMEWORKS_TEXT]);
