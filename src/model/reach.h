/*
 * Whether a process can be looked into, as judge sees it: the facts are
 * gathered by sense/access.
 */
#pragma once

#include "sense/access.h" /* struct access_facts */
