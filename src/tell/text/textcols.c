#include "tell/text/textcols.h"

#include <string.h>

/* As good as whole. */
static const size_t uncut_columns = 4096;

static size_t gap_of(const struct textcol *c)
{
	return c->gap ? c->gap : 1;
}

static size_t width_of(const struct textcol *cols, size_t n, size_t indent, uint32_t shown)
{
	size_t all = indent;
	for (size_t i = 0; i < n; i++)
		if (shown & UINT32_C(1) << i)
			all += cols[i].width + (i > 0 ? gap_of(&cols[i]) : 0);
	return all;
}

/* Bit i: column i has room on paper of this width (0: all have). */
static uint32_t columns_shown(const struct textcol *cols, size_t n, size_t indent, size_t width)
{
	uint32_t shown = (UINT32_C(1) << n) - 1;
	while (width > 0 && width_of(cols, n, indent, shown) > width) {
		size_t least = n;
		for (size_t i = 0; i < n; i++)
			if (shown & UINT32_C(1) << i && cols[i].spare > 0 &&
			    (least == n || cols[i].spare > cols[least].spare))
				least = i;
		if (least == n)
			break;
		shown &= ~(UINT32_C(1) << least);
	}
	return shown;
}

/* Returns the columns used. */
static size_t cell(const struct textout *p, const struct textcol *c, const char *text)
{
	size_t all = textout_columns(text, strlen(text));
	if (c->cut && all > c->width)
		return textout_cut(p, text, c->width);
	if (!c->left)
		textout_blank(p, c->width - MIN(all, (size_t)c->width));
	size_t used = textout_cut(p, text, uncut_columns);
	if (c->left)
		textout_blank(p, c->width - MIN(used, (size_t)c->width));
	return MAX(used, (size_t)c->width);
}

void textcols_row(const struct textout *p, const struct textcol *cols, size_t n, size_t indent,
		  const struct textcells *cells)
{
	uint32_t shown = columns_shown(cols, n, indent, p->width);
	size_t used = indent;
	textout_blank(p, indent);
	for (size_t i = 0; i + 1 < n; i++) {
		if (!(shown & UINT32_C(1) << i))
			continue;
		size_t gap = i > 0 ? gap_of(&cols[i]) : 0;
		textout_blank(p, gap);
		if (cells->ink[i])
			textout_ink(p, cells->ink[i]);
		used += gap + cell(p, &cols[i], cells->text[i]);
		if (cells->ink[i])
			textout_ink(p, INK_PLAIN);
	}
	const struct textcol *last = &cols[n - 1];
	size_t room = last->most ? last->most : uncut_columns;
	used += gap_of(last);
	if (p->width > 0)
		room = sub_floor(p->width, used);
	if (room > 0) {
		textout_blank(p, gap_of(last));
		(void)textout_cut(p, cells->text[n - 1], room);
	}
	fputc('\n', p->to);
}

void textcols_head(const struct textout *p, const struct textcol *cols, size_t n, size_t indent, bool dim)
{
	struct textcells heads = {.ink = {INK_PLAIN}};
	for (size_t i = 0; i < n; i++)
		heads.text[i] = cols[i].head;
	if (dim)
		textout_ink(p, INK_DIM);
	textcols_row(p, cols, n, indent, &heads);
	if (dim)
		textout_ink(p, INK_PLAIN);
}
