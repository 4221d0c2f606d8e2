#include "tell/text/textcols.h"

#include <string.h>

/* As good as whole. */
static const size_t uncut_columns = 4096;

static size_t gap_of(const struct textcol *c)
{
	return c->gap ? c->gap : 1;
}

static size_t least_of(const struct textcol *c)
{
	return c->least ? c->least : c->width;
}

struct fit {
	uint32_t shown; /* bit i: there is room for column i */
	size_t width[TEXTCOLS_MOST];
};

/* Of the columns that are shown, as narrow as they may be. */
static size_t least_width(const struct textcol *cols, size_t n, size_t indent, uint32_t shown)
{
	size_t all = indent;
	for (size_t i = 0; i < n; i++)
		if (shown & UINT32_C(1) << i)
			all += least_of(&cols[i]) + (i > 0 ? gap_of(&cols[i]) : 0);
	return all;
}

static uint32_t columns_shown(const struct textcol *cols, size_t n, size_t indent, size_t width)
{
	uint32_t shown = (UINT32_C(1) << n) - 1;
	while (width > 0 && least_width(cols, n, indent, shown) > width) {
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

/* On paper of this width (0: all have room); what is left over goes to the first of the narrow columns. */
static struct fit columns_fit(const struct textcol *cols, size_t n, size_t indent, size_t width)
{
	struct fit f = {.shown = columns_shown(cols, n, indent, width)};
	size_t left = sub_floor(width, least_width(cols, n, indent, f.shown));
	for (size_t i = 0; i < n; i++) {
		const size_t more = cols[i].width - least_of(&cols[i]), got = width > 0 ? MIN(left, more) : more;
		f.width[i] = least_of(&cols[i]) + got;
		if (f.shown & UINT32_C(1) << i)
			left -= MIN(left, got);
	}
	return f;
}

/* Returns the columns used. */
static size_t cell(const struct textout *p, const struct textcol *c, size_t width, const char *text)
{
	size_t all = textout_columns(text, strlen(text));
	if (c->cut && all > width)
		return textout_cut(p, text, width);
	if (!c->left)
		textout_blank(p, width - MIN(all, width));
	size_t used = textout_cut(p, text, uncut_columns);
	if (c->left)
		textout_blank(p, width - MIN(used, width));
	return MAX(used, width);
}

/* Ends the row. Beside too little room a text that goes on begins on a line of its own. */
static void last_cell(const struct textout *p, const struct textcol *c, size_t used, size_t indent, const char *text)
{
	const size_t own_indent = indent + 4;
	const size_t room = p->width > 0 ? sub_floor(p->width, used) : c->most ? c->most : uncut_columns;
	if (c->wrap && p->width > 0 && textout_columns(text, strlen(text)) > room) {
		const bool own_line = room < c->width && used > own_indent;
		if (own_line)
			fputc('\n', p->to);
		textout_blank(p, own_line ? own_indent : gap_of(c));
		textout_text(p, own_line ? own_indent : used, "%s", text);
		return;
	}
	if (room > 0) {
		textout_blank(p, gap_of(c));
		(void)textout_cut(p, text, room);
	}
	fputc('\n', p->to);
}

void textcols_row(const struct textout *p, const struct textcol *cols, size_t n, size_t indent,
		  const struct textcells *cells)
{
	const struct fit fit = columns_fit(cols, n, indent, p->width);
	size_t used = indent;
	textout_blank(p, indent);
	for (size_t i = 0; i + 1 < n; i++) {
		if (!(fit.shown & UINT32_C(1) << i))
			continue;
		size_t gap = i > 0 ? gap_of(&cols[i]) : 0;
		textout_blank(p, gap);
		if (cells->ink[i])
			textout_ink(p, cells->ink[i]);
		used += gap + cell(p, &cols[i], fit.width[i], cells->text[i]);
		if (cells->ink[i])
			textout_ink(p, INK_PLAIN);
	}
	const struct textcol *last = &cols[n - 1];
	last_cell(p, last, used + gap_of(last), indent, cells->text[n - 1]);
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
