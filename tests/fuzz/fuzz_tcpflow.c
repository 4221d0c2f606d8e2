/* Answers of sock_diag. */
#include <assert.h>

#include "sense/net/tcpflow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = {(const char *)data, size};
	cleanup(tcpflow_table_done) struct tcpflow_table t = {.n = 0};
	bool done = false;
	if (tcpflow_diag_parse(text, &t, &done) == 0 && !done)
		assert(size % 4 == 0 || t.n <= size / 16);
	for (size_t i = 0; i < t.n; i++)
		assert(t.item[i].inode != 0);
	return 0;
}
