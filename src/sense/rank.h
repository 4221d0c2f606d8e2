/* How a rank's number is kept everywhere: an int32_t, 0 and up as the launcher counts them, or NO_RANK. */
#pragma once

#include "base/base.h"

#define NO_RANK (-1) /* the process has no rank, or it is not known */
