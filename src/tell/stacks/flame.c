#include "tell/stacks/flame_parts.h"

#include <string.h>

int flame_write(const struct stackset *s, enum flame_format format, FILE *to)
{
	switch (format) {
	case FLAME_SVG:
		return flame_svg_write(s, to);
	case FLAME_HTML:
		return flame_html_write(s, to);
	case FLAME_FOLDED:
		return flame_folded_write(s, to);
	case FLAME_SPEEDSCOPE:
		return flame_speedscope_write(s, to);
	case FLAME_PPROF:
		return flame_pprof_write(s, to);
	case FLAME_JSON:
		return flame_json_write(s, to);
	}
	return -EINVAL;
}

static void pair_done(struct flame_pair *p)
{
	stackset_free(p->both);
	free(p->rows);
}

int flame_diff_write(const struct stackset *a, const struct stackset *b, enum flame_format format, FILE *to)
{
	cleanup(pair_done) struct flame_pair p = {.a = a, .b = b};
	if (format == FLAME_SPEEDSCOPE || format == FLAME_PPROF)
		return -ENOTSUP;
	int r = stackset_diff(a, b, &p.both, &p.rows, &p.n);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p.n; i++) {
		p.a_weight = add_cap(p.a_weight, p.rows[i].a_weight);
		p.b_weight = add_cap(p.b_weight, p.rows[i].b_weight);
	}
	switch (format) {
	case FLAME_SVG:
		return flame_svg_diff(&p, to);
	case FLAME_HTML:
		return flame_html_diff(&p, to);
	case FLAME_JSON:
		return flame_json_diff(&p, to);
	default:
		return flame_folded_diff(&p, to);
	}
}

int flame_read(const char *text, size_t len, struct stackset **ret, struct fault *f)
{
	struct span all = {text, len};
	struct span trimmed = span_trim(all);
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	if (!s)
		return -ENOMEM;
	if (trimmed.len == 0)
		return fault_set(
			f, -EBADMSG,
			"the file is empty; expected a recording of 'vigil flame --format json', or folded stacks");
	int r = trimmed.p[0] == '{' ? flame_json_read(all, s, f) : flame_folded_read(all, s, f);
	if (r == 0)
		*ret = take(&s);
	return r;
}
