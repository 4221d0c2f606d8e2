#include "sense/wait/kernelstack.h"

#include <string.h>

#include "sense/wait/threadlist.h"

/* Parses "[<0>] futex_wait_queue+0x66/0xa0 [module]"; the address is 0 for all but the kernel itself. */
static bool kernelstack_line(struct span line, struct kernelstack_frame *ret)
{
	struct span word, rest = span_trim(line);
	*ret = (struct kernelstack_frame){.name = ""};
	if (!span_starts(rest, "[<") || !span_word(&rest, &word) || !span_word(&rest, &word))
		return false;
	const char *plus = memchr(word.p, '+', word.len);
	span_copy(plus ? (struct span){word.p, (size_t)(plus - word.p)} : word, ret->name, sizeof(ret->name));
	if (span_word(&rest, &word) && word.len > 2 && word.p[0] == '[' && word.p[word.len - 1] == ']')
		span_copy((struct span){word.p + 1, word.len - 2}, ret->module, sizeof(ret->module));
	return ret->name[0] && strncmp(ret->name, "0x", 2) != 0;
}

void kernelstack_parse(struct span text, struct kernelstack *ret)
{
	ret->n = 0;
	while (text.len && ret->n < KERNELSTACK_FRAMES) {
		const char *end = memchr(text.p, '\n', text.len);
		size_t len = end ? (size_t)(end - text.p) : text.len;
		ret->n += kernelstack_line((struct span){text.p, len}, &ret->frame[ret->n]);
		len += end != NULL;
		text = (struct span){text.p + len, text.len - len};
	}
}

int kernelstack_read(const struct world *w, pid_t pid, pid_t tid, struct kernelstack *ret)
{
	char text[8192];
	size_t len;
	int r = task_file_read(w, pid, tid, "stack", text, sizeof(text), &len);
	if (r)
		return r;
	kernelstack_parse((struct span){text, len}, ret);
	return 0;
}
