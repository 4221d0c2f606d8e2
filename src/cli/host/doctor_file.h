/* `vigil doctor FILE`: what a trace says of why a program is not faster. */
#pragma once

#include "base/base.h"

/* The exit status. */
int doctor_file(const char *path, bool json);
