/*
 * Whether a process can be looked into, as judge sees it: the facts are
 * gathered by sense/proc/access.
 */
#pragma once

#include "sense/proc/access.h" /* struct access_facts */
