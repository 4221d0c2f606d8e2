#include "agent/inspect/pytext.h"

#include <string.h>

#include "base/utf8.h"

void pytext_add(struct buf *b, const char *text)
{
	for (size_t n = strlen(text); n > 0;) {
		uint32_t code = 0;
		size_t len = utf8_char(text, n, &code);
		if (len == 0 || utf8_hidden(code))
			buf_add(b, "?");
		else
			buf_add_n(b, text, len);
		len = len ? len : 1;
		text += len;
		n -= len;
	}
}

const char *pytext_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

void pytext_place_add(struct buf *b, const struct pyrt *rt, const struct pyframe *f, int32_t line)
{
	if (!f->known)
		return;
	buf_add(b, " at ");
	pytext_add(b, pytext_file(f->known->file));
	if (line <= 0)
		line = pycode_line(rt, f->known, f->instr);
	if (line > 0)
		buf_printf(b, ":%d", (int)line);
	if (f->known->name[0] != '<') {
		buf_add(b, " in ");
		pytext_add(b, f->known->name);
	}
}
