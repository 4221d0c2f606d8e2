/* Who and where we are, for reports; and names for new jobs. */
#pragma once

#include "base/base.h"

void host_name(char *dst, size_t cap);
/* The address other nodes would see: that of the interface with the default route; "127.0.0.1" without one. */
void host_ip(char *dst, size_t cap);
void host_user(char *dst, size_t cap);
/* "<name>-<4 letters>": short to type, unlikely to meet another. */
void host_job_id(const char *name, char *dst, size_t cap);
