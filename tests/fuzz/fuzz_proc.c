#include <assert.h>
#include <string.h>

#include "sense/proc/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = {(const char *)data, size};
	struct proc_stat s;
	struct proc_statm m;
	struct proc_status st;
	struct proc_rollup r;
	if (proc_stat_parse(text, &s) == 0) {
		assert(memchr(s.comm, '\0', sizeof(s.comm)) != NULL);
		assert(s.state != ' ' && s.state != '\n');
	}
	if (proc_status_parse(text, &st) == 0)
		assert(st.has_memory || st.rss_bytes == 0);
	if (proc_rollup_parse(text, &r) == 0)
		assert(r.private_bytes == UINT64_MAX || r.private_bytes % KIB == 0);
	(void)!proc_statm_parse(text, &m);
	struct span v = environ_get(text, "RANK");
	if (v.p)
		assert(v.p >= text.p && v.p + v.len <= text.p + text.len && memchr(v.p, '\0', v.len) == NULL);
	return 0;
}
