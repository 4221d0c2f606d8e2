/* A kernel log record of any bytes: its parts lie inside it, and unescaping never grows it. */
#include <assert.h>
#include <string.h>

#include "sense/log/kmsg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span raw = {(const char *)data, size};
	struct kmsg_record r;
	char text[256];
	if (kmsg_parse(raw, &r) == 0) {
		assert(r.text.p >= raw.p && r.text.p + r.text.len <= raw.p + raw.len);
		assert(r.more.len == 0 || r.more.p + r.more.len <= raw.p + raw.len);
		assert(kmsg_unescape(r.text, text, sizeof(text)) <= r.text.len);
	}
	assert(kmsg_subject(raw) >= 0);
	size_t n = kmsg_unescape(raw, text, sizeof(text));
	assert(n < sizeof(text) && text[n] == '\0');
	return 0;
}
