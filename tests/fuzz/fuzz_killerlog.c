/* Lines of any bytes: whatever is recognised has a killer's action and terminated text. */
#include <assert.h>
#include <string.h>

#include "sense/death/killerlog.h"
#include "tests/unit/logtext.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct killer_line lines[4];
	struct killerlog k;
	killerlog_init(&k, "fuzz", lines, 4);
	logtext_killerlog(&k, (struct span){(const char *)data, size}, 0);
	assert(k.n <= 4);
	for (size_t i = 0; i < k.n; i++) {
		assert(lines[i].action[0] != '\0' && lines[i].pid >= 0);
		assert(memchr(lines[i].group, 0, sizeof(lines[i].group)) &&
		       memchr(lines[i].name, 0, sizeof(lines[i].name)));
	}
	return 0;
}
