/* Facts on whether a process can be inspected, for judge: sense/proc/access gathers them. */
#pragma once

#include "sense/proc/access.h" /* struct access_facts */
