/* Ranks are stored as int32_t in all modules: 0 and up as the launcher counts them, or NO_RANK. */
#pragma once

#include "base/base.h"

#define NO_RANK (-1) /* the process has no rank, or its rank is unknown */
