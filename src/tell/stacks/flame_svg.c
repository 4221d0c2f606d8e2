#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "tell/stacks/flame_assets.h"
#include "tell/stacks/flame_parts.h"

#define LEFT 10.0
#define WIDTH 1180.0
#define BOX 17.0 /* height of a row */
#define HEAD 62.0 /* title, buttons */
#define FOOT 70.0 /* details, two lines of losses, colours */
#define LINE_CHARS 172 /* of losses that fit beside each other */
#define LEAST_WIDTH 0.1 /* narrower boxes cannot be seen: they and what they carry are left out */
#define CHAR_WIDTH 6.6
#define NAME_MAX_BYTES 2000 /* of a title: longer names are templates in templates */

struct picture {
	const struct stackset *s;
	const struct flame_pair *pair; /* NULL: not a difference */
	const struct stack_node *nodes;
	size_t n_nodes;
	double *width; /* of each node with all it carries, in pixels; behind the last one: of everything */
	uint64_t *a, *b; /* totals of both sides; without a pair only a */
	uint32_t *pending; /* nodes yet to be drawn, next one last */
	double *pending_x;
	size_t n_pending, cap_pending;
	uint32_t deepest;
	double height;
	struct label label;
	struct sink *k;
};

static void picture_done(struct picture *p)
{
	free(p->width);
	free(p->a);
	free(p->b);
	free(p->pending);
	free(p->pending_x);
	label_done(&p->label);
}

static double share(uint64_t part, uint64_t all)
{
	return all > 0 ? (double)part / (double)all : 0;
}

/* Both sides get the same width, whatever the length of each recording. */
static int measure(struct picture *p)
{
	size_t n = p->n_nodes;
	p->width = calloc(n + 1, sizeof(*p->width));
	p->a = calloc(n + 1, sizeof(*p->a));
	p->b = calloc(n + 1, sizeof(*p->b));
	if (!p->width || !p->a || !p->b)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		p->a[i] = p->pair ? p->pair->rows[i].a_weight : stack_node_weight(&p->nodes[i]);
		p->b[i] = p->pair ? p->pair->rows[i].b_weight : 0;
		p->a[n] = add_cap(p->a[n], p->a[i]);
		p->b[n] = add_cap(p->b[n], p->b[i]);
	}
	flame_sum_up(p->s, p->a);
	flame_sum_up(p->s, p->b);
	int sides = (p->a[n] > 0) + (p->b[n] > 0);
	for (size_t i = 0; i <= n && sides > 0; i++)
		p->width[i] = WIDTH * (share(p->a[i], p->a[n]) + share(p->b[i], p->b[n])) / sides;
	return 0;
}

/* Depth of the deepest visible node. */
static int measure_depth(struct picture *p)
{
	cleanup(freep) uint32_t *depth = calloc(p->n_nodes + 1, sizeof(*depth));
	if (!depth)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_nodes; i++) {
		if (p->nodes[i].parent != i)
			depth[i] = depth[p->nodes[i].parent] + 1;
		if (p->width[i] >= LEAST_WIDTH)
			p->deepest = MAX(p->deepest, depth[i]);
	}
	p->height = HEAD + FOOT + BOX * (p->deepest + 1);
	return 0;
}

static int flame_svg_by_text(const char *a, const char *b)
{
	int r = strverscmp(a, b); /* "rank 2" before "rank 10" */
	return r ? r : strcmp(a, b);
}

static int flame_svg_by_name(const void *x, const void *y, void *context)
{
	const struct picture *p = context;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	const struct frame *f = stackset_frame(p->s, p->nodes[a].frame), *g = stackset_frame(p->s, p->nodes[b].frame);
	int r = flame_svg_by_text(f->name, g->name);
	if (r == 0)
		r = flame_svg_by_text(f->file, g->file);
	if (r == 0 && f->line != g->line)
		r = f->line < g->line ? -1 : 1;
	if (r == 0)
		r = flame_svg_by_text(f->module, g->module);
	return r ? r : a < b ? -1 : 1;
}

static int pending_add(struct picture *p, uint32_t node)
{
	if (p->n_pending == p->cap_pending) {
		size_t cap = p->cap_pending ? p->cap_pending * 2 : 256;
		uint32_t *pending = reallocarray(p->pending, cap, sizeof(*pending));
		if (!pending)
			return -ENOMEM;
		p->pending = pending;
		double *x = reallocarray(p->pending_x, cap, sizeof(*x));
		if (!x)
			return -ENOMEM;
		p->pending_x = x;
		p->cap_pending = cap;
	}
	p->pending[p->n_pending++] = node;
	return 0;
}

/* The visible children of node, which begins at x, in order: the first one on top of the list. */
static void order_children(struct picture *p, size_t from, double x)
{
	qsort_r(p->pending + from, p->n_pending - from, sizeof(*p->pending), flame_svg_by_name, p);
	for (size_t i = from; i < p->n_pending; i++) {
		p->pending_x[i] = x;
		x += p->width[p->pending[i]];
	}
	for (size_t lo = from, hi = p->n_pending; lo + 1 < hi; lo++) {
		hi--;
		uint32_t node = p->pending[lo];
		double at = p->pending_x[lo];
		p->pending[lo] = p->pending[hi];
		p->pending_x[lo] = p->pending_x[hi];
		p->pending[hi] = node;
		p->pending_x[hi] = at;
	}
}

static int push_children(struct picture *p, uint32_t node, double x)
{
	size_t from = p->n_pending;
	if (!p->nodes[node].first_child)
		return 0;
	for (uint32_t c = p->nodes[node].first_child; c; c = p->nodes[c].next_sibling) {
		int r = p->width[c] >= LEAST_WIDTH ? pending_add(p, c) : 0;
		if (r < 0)
			return r;
	}
	if (p->n_pending > from)
		order_children(p, from, x);
	return 0;
}

/* The hue shows the kind (warm for Python, cool for native code), the shade is made of the name. */
static void colour(const struct frame *f, char dst[static 8])
{
	static const unsigned char base[COLOUR_MAX][3] = {
		[COLOUR_PYTHON] = {245, 176, 65}, [COLOUR_NATIVE] = {120, 178, 214}, [COLOUR_KERNEL] = {178, 148, 214},
		[COLOUR_NOTE] = {196, 196, 190},  [COLOUR_IDLE] = {206, 216, 222},   [COLOUR_GIL] = {230, 110, 96},
		[COLOUR_GC] = {110, 196, 160},
	};
	uint32_t h = 2166136261U;
	for (const char *c = f->name; *c; c++)
		h = (h ^ (unsigned char)*c) * 16777619U;
	int shift = (int)(h >> 8) % 37 - 18;
	int rgb[3];
	for (int i = 0; i < 3; i++) {
		int v = base[flame_colour_of(f)][i] + (i == 2 ? shift : shift / 2);
		rgb[i] = v < 0 ? 0 : v > 255 ? 255 : v;
	}
	text_format(dst, 8, "#%02x%02x%02x", rgb[0] & 255, rgb[1] & 255, rgb[2] & 255);
}

/* White: the same share on both sides; red: more in b; blue: less in b. */
static void colour_change(double before, double after, char dst[static 8])
{
	double most = fmax(before, after), change = most > 0 ? (after - before) / most : 0;
	int fade = 245 - (int)(fabs(change) * 165);
	if (change >= 0)
		text_format(dst, 8, "#f5%02x%02x", fade & 255, fade & 255);
	else
		text_format(dst, 8, "#%02x%02xf5", fade & 255, fade & 255);
}

static void put_number(struct sink *k, const char *name, double v)
{
	sink_text(k, " ");
	sink_text(k, name);
	sink_text(k, "=\"");
	sink_double(k, v, 2);
	sink_text(k, "\"");
}

static void put_weight(const struct picture *p, uint32_t node)
{
	char text[160], a[40], b[40];
	if (p->pair) {
		double before = 100 * share(p->a[node], p->pair->a_weight),
		       after = 100 * share(p->b[node], p->pair->b_weight);
		TEXT_FORMAT(text, "%.2f %% (%s) before, %.2f %% (%s) after: %+.2f points", before,
			    flame_amount(p->pair->a, p->a[node], a), after, flame_amount(p->pair->b, p->b[node], b),
			    after - before);
	} else {
		TEXT_FORMAT(text, "%s, %.2f %%", flame_amount(p->s, p->a[node], a), 100 * p->width[node] / WIDTH);
	}
	sink_text(p->k, text);
}

/* The part of the text that fits, cut between characters. */
static void put_words(struct sink *k, const char *text, double width)
{
	size_t room = (size_t)((width - 6) / CHAR_WIDTH), seen = 0, i = 0;
	size_t keep = 0;
	for (; text[i]; i++) {
		if (((unsigned char)text[i] & 0xc0) == 0x80)
			continue;
		if (seen + 1 == room)
			keep = i;
		if (seen++ == room)
			break;
	}
	sink_xml(k, text, text[i] ? keep : SIZE_MAX);
}

static void put_box(const struct picture *p, const char *text, uint32_t node, double x, double y, double w,
		    const char *fill)
{
	struct sink *k = p->k;
	sink_text(k, "<g><title>");
	sink_xml(k, text, NAME_MAX_BYTES);
	sink_text(k, "\n");
	put_weight(p, node);
	sink_text(k, "</title><rect");
	put_number(k, "x", x);
	put_number(k, "y", y);
	put_number(k, "width", w);
	sink_text(k, " height=\"16\" fill=\"");
	sink_text(k, fill);
	sink_text(k, "\"/>");
	if (w >= 3 * CHAR_WIDTH + 6) {
		sink_text(k, "<text");
		put_number(k, "x", x + 3);
		put_number(k, "y", y + 12);
		sink_text(k, ">");
		put_words(k, text, w);
		sink_text(k, "</text>");
	}
	sink_text(k, "</g>\n");
}

static int put_node(struct picture *p, uint32_t node, double x, uint32_t depth)
{
	char fill[8];
	const struct frame *f = stackset_frame(p->s, p->nodes[node].frame);
	int r = label_of(&p->label, f);
	if (r < 0)
		return r;
	if (p->pair)
		colour_change(share(p->a[node], p->pair->a_weight), share(p->b[node], p->pair->b_weight), fill);
	else
		colour(f, fill);
	put_box(p, p->label.text, node, x, p->height - FOOT - BOX * (depth + 1), p->width[node], fill);
	return 0;
}

static uint32_t depth_of(const struct picture *p, uint32_t node)
{
	uint32_t depth = 0;
	for (; p->nodes[node].parent != node; node = p->nodes[node].parent)
		depth++;
	return depth;
}

static int put_tree(struct picture *p)
{
	size_t n_lanes;
	double x = LEFT;
	(void)stackset_lanes(p->s, &n_lanes);
	put_box(p, "all", (uint32_t)p->n_nodes, LEFT, p->height - FOOT - BOX, WIDTH, p->pair ? "#f5f5f5" : "#c8c8c2");
	for (uint32_t lane = 0; lane < n_lanes; lane++) {
		uint32_t root = stackset_root(p->s, lane);
		int r = push_children(p, root, x);
		while (r == 0 && p->n_pending > 0) {
			uint32_t node = p->pending[--p->n_pending];
			double at = p->pending_x[p->n_pending];
			r = put_node(p, node, at, depth_of(p, node));
			if (r == 0)
				r = push_children(p, node, at);
			if (r == 0)
				r = p->k->r;
		}
		if (r < 0)
			return r;
		x += p->width[root];
	}
	return 0;
}

static void put_legend(const struct picture *p)
{
	static const struct frame example[COLOUR_MAX] = {
		[COLOUR_PYTHON] = {FRAME_PYTHON, "", "", "", 0},  [COLOUR_NATIVE] = {FRAME_NATIVE, "", "", "", 0},
		[COLOUR_KERNEL] = {FRAME_KERNEL, "", "", "", 0},  [COLOUR_NOTE] = {FRAME_NOTE, "", "", "", 0},
		[COLOUR_IDLE] = {FRAME_NOTE, "[idle", "", "", 0}, [COLOUR_GIL] = {FRAME_NOTE, "GIL", "", "", 0},
		[COLOUR_GC] = {FRAME_NOTE, "garbage", "", "", 0},
	};
	double x = LEFT, y = p->height - 12;
	for (enum flame_colour c = 0; c < COLOUR_MAX && !p->pair; c++) {
		char fill[8];
		colour(&example[c], fill);
		sink_text(p->k, "<rect class=\"key\"");
		put_number(p->k, "x", x);
		put_number(p->k, "y", y - 9);
		sink_text(p->k, " width=\"10\" height=\"10\" fill=\"");
		sink_text(p->k, fill);
		sink_text(p->k, "\"/><text");
		put_number(p->k, "x", x + 14);
		put_number(p->k, "y", y);
		sink_text(p->k, ">");
		sink_text(p->k, flame_colour_name(c));
		sink_text(p->k, "</text>\n");
		x += 30 + CHAR_WIDTH * (double)strlen(flame_colour_name(c));
	}
}

static void flame_svg_put_text(const struct picture *p, const char *attributes, double x, double y, const char *text)
{
	sink_text(p->k, "<text");
	put_number(p->k, "x", x);
	put_number(p->k, "y", y);
	sink_text(p->k, attributes);
	sink_text(p->k, ">");
	sink_xml(p->k, text, 400);
	sink_text(p->k, "</text>\n");
}

static void flame_svg_put_head(const struct picture *p)
{
	const struct stackset_meta *m = stackset_meta_of(p->pair ? p->pair->b : p->s);
	struct sink *k = p->k;
	sink_text(
		k,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1200\"");
	put_number(k, "height", p->height);
	sink_text(k, " viewBox=\"0 0 1200 ");
	sink_double(k, p->height, 2);
	sink_text(k, "\">\n<style>text{font:11px monospace;fill:#111}#title{font-size:17px;text-anchor:middle}"
		     "#boxes g{cursor:pointer}#boxes rect{stroke:#fff;stroke-width:0.4}#boxes g:hover rect{stroke:#000}"
		     "#boxes text{pointer-events:none}.button{cursor:pointer;fill:#0645ad}</style>\n"
		     "<rect width=\"100%\" height=\"100%\" fill=\"#fdfdfb\"/>\n");
	flame_svg_put_text(p, " id=\"title\"", 600, 24,
			   m->title[0] ? m->title
			   : p->pair   ? "Difference"
				       : "Flame graph");
	flame_svg_put_text(p, " id=\"reset\" class=\"button\" style=\"display:none\"", LEFT, 48, "Reset zoom");
	flame_svg_put_text(p, " id=\"find\" class=\"button\" style=\"display:none\"", 1080, 48, "Search");
	flame_svg_put_text(p, " id=\"matched\" text-anchor=\"end\"", 1060, 48, "");
}

/* Losses take two lines if they are long. */
static void put_losses(const struct picture *p, char *text)
{
	char *second = NULL;
	if (strlen(text) > LINE_CHARS)
		second = memrchr(text, ' ', LINE_CHARS);
	if (second)
		*second++ = '\0';
	flame_svg_put_text(p, " id=\"losses\"", LEFT, p->height - FOOT + 29, text);
	flame_svg_put_text(p, "", LEFT, p->height - FOOT + 42, second ? second : "");
}

/* A line for each side, cut if it does not fit; what the colours mean where others have their legend. */
static void put_losses_of_both(const struct picture *p)
{
	const struct stackset *const sides[] = {p->pair->a, p->pair->b};
	char losses[500], text[520];
	for (int i = 0; i < 2; i++) {
		flame_losses(stackset_meta_of(sides[i]), losses, sizeof(losses));
		TEXT_FORMAT(text, "%s: %.*s%s", i ? "after" : "before", LINE_CHARS - 10, losses,
			    strlen(losses) > LINE_CHARS - 10 ? "\xe2\x80\xa6" : "");
		flame_svg_put_text(p, i ? "" : " id=\"losses\"", LEFT, p->height - FOOT + 29 + 13 * i, text);
	}
	flame_svg_put_text(p, "", LEFT, p->height - 12, "blue: a smaller share than before; red: a larger one");
}

static void flame_svg_put_foot(const struct picture *p)
{
	char text[500];
	flame_svg_put_text(p, " id=\"info\"", LEFT, p->height - FOOT + 14, "");
	if (p->pair)
		put_losses_of_both(p);
	else
		put_losses(p, flame_losses(stackset_meta_of(p->s), text, sizeof(text)));
	put_legend(p);
	sink_text(p->k, "<script><![CDATA[\n");
	sink_bytes(p->k, flame_svg_js, flame_svg_js_len);
	sink_text(p->k, "]]></script>\n</svg>\n");
}

static int draw(const struct stackset *s, const struct flame_pair *pair, FILE *to)
{
	struct sink k;
	cleanup(picture_done) struct picture p = {.s = s, .pair = pair, .k = &k};
	p.nodes = stackset_nodes(s, &p.n_nodes);
	int r = measure(&p);
	if (r == 0)
		r = measure_depth(&p);
	if (r < 0)
		return r;
	sink_open(&k, to);
	flame_svg_put_head(&p);
	sink_text(&k, "<g id=\"boxes\">\n");
	r = put_tree(&p);
	sink_text(&k, "</g>\n");
	flame_svg_put_foot(&p);
	int closed = sink_close(&k);
	return r < 0 ? r : closed;
}

int flame_svg_write(const struct stackset *s, FILE *to)
{
	return draw(s, NULL, to);
}

int flame_svg_diff(const struct flame_pair *p, FILE *to)
{
	return draw(p->both, p, to);
}
