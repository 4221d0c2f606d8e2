/* Answers of sock_diag and the text tables, then every search in what they gave. The first byte chooses. */
#include <assert.h>

#include "sense/net/sockpeer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(sockpeer_table_done) struct sockpeer_table t = {.n = 0};
	char text[64];
	bool done = false;
	int r = 0;
	if (size == 0)
		return 0;
	const struct span rest = {(const char *)data + 1, size - 1};
	if (data[0] % 4 == 0)
		r = sockpeer_tcp_parse(rest, 0, &t, &done);
	else if (data[0] % 4 == 1)
		r = sockpeer_unix_parse(rest, 0, &t, &done);
	else
		r = sockpeer_text_parse(rest, data[0] % 4 == 3, 0, &t);
	assert(r <= 0);
	if (sockpeer_table_sort(&t) != 0)
		return 0;
	for (size_t i = 0; i < t.n; i++) {
		const struct sockpeer *s = &t.item[i];
		const struct sockpeer *other = sockpeer_other_end(&t, s);
		assert(i == 0 || t.item[i - 1].inode <= s->inode);
		assert(s->inode == 0 || sockpeer_find(&t, s->inode));
		assert(!other || other->is_unix == s->is_unix);
		(void)sockpeer_listener(&t, s);
		sockpeer_format(s, text, sizeof(text));
	}
	return 0;
}
