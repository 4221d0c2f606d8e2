/* A configuration file of systemd-oomd, whatever it holds, gives ratios within 0..1 and a time that is none below 0. */
#include <stdint.h>

#include "sense/host/oomdconf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct oomdconf c = OOMDCONF_DEFAULT;
	oomdconf_parse((struct span){(const char *)data, size}, &c);
	if (!(c.swap_used_limit_ratio >= 0 && c.swap_used_limit_ratio <= 1 && c.pressure_limit_ratio >= 0 &&
	      c.pressure_limit_ratio <= 1 && c.pressure_duration_s >= 0))
		__builtin_trap();
	return 0;
}
