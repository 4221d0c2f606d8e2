/* /proc/PID/net/snmp and lines of /proc/PID/net/tcp. */
#include <assert.h>

#include "sense/net/tcpwait.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span rest = {(const char *)data, size}, line;
	struct tcpwait_counts c;
	struct tcpwait t;
	ignore(tcpwait_snmp_parse(rest, &c), "any answer is one");
	while (span_line(&rest, &line))
		if (tcpwait_parse(line, &t) == 0)
			assert(t.tries >= TCPWAIT_TRIES);
	return 0;
}
