#include <assert.h>
#include <string.h>

#include "sense/net/fdtarget.h"
#include "sense/net/socktable.h"
#include "sense/wait/threadwait.h"
#include "sense/wait/threadwait_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool inside(struct span part, struct span whole)
{
	return part.len == 0 || (part.p >= whole.p && part.p + part.len <= whole.p + whole.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = {(const char *)data, size}, rest = text, line, type, source, path;
	struct threadwait t = {.nr = -1};
	char formatted[200];
	uint64_t inode;
	if (threadwait_syscall_parse(text, &t) == 0)
		assert(t.nr >= -1 && (t.has_syscall || t.nr == -1));
	assert(strlen(syscall_name(t.nr)) > 0);
	struct fd_link link = fd_link_parse(text);
	assert(link.inode == 0 || link.kind == FD_PIPE || link.kind == FD_SOCKET);
	while (span_line(&rest, &line)) {
		struct sock_line l;
		if (sock_line_parse(line, &l) == 0) {
			sock_line_format(&l, "tcp", formatted, sizeof(formatted));
			assert(strlen(formatted) < sizeof(formatted) - 1);
		}
		if (sock_unix_parse(line, &inode, &path) == 0)
			assert(inside(path, text));
	}
	if (mountinfo_find(text, 31, &type, &source) == 0)
		assert(inside(type, text) && inside(source, text));
	uint32_t word[10] = {};
	memcpy(word, data, MIN(size, sizeof(word)));
	if (mutex_is_plausible(word))
		assert(word[0] == 2 && word[2] != 0);
	return 0;
}
