/* Kernel log text of any bytes: records stay within their array and their text is terminated. */
#include <assert.h>
#include <string.h>

#include "sense/death/oomlog.h"
#include "tests/unit/logtext.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct kernel_kill kills[3];
	struct oomlog o;
	oomlog_init(&o, 4096, kills, 3);
	logtext_oomlog(&o, (struct span){(const char *)data, size}, 1700000000000);
	assert(o.n <= 3);
	for (size_t i = 0; i < o.n; i++) {
		assert(kills[i].pid > 0 && kills[i].n_tasks <= KERNEL_KILL_TASKS &&
		       kills[i].n_tasks <= kills[i].n_tasks_all);
		assert(memchr(kills[i].comm, 0, sizeof(kills[i].comm)) &&
		       memchr(kills[i].line, 0, sizeof(kills[i].line)));
		for (size_t t = 1; t < kills[i].n_tasks; t++)
			assert(kills[i].tasks[t - 1].rss_bytes >= kills[i].tasks[t].rss_bytes);
	}
	return 0;
}
