#include "tell/stacks/flame_assets.h"
#include "tell/stacks/flame_parts.h"
#include "tell/text/textids.h"

/* Most nodes in a page: a browser rebuilds a tree of this size in about a second. */
#define MOST_NODES 150000

/*
 * The page is a skeleton; its script builds everything from the data. The
 * policy allows that one script and that one style by their hashes and no
 * network: what a program puts into a name cannot run, even if an escape were
 * forgotten.
 */
static void flame_html_put_head(struct sink *k, const char *title)
{
	sink_text(k, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; "
		     "form-action 'none'; script-src 'sha256-");
	sink_text(k, flame_js_sha256);
	sink_text(k, "'; style-src 'sha256-");
	sink_text(k, flame_css_sha256);
	sink_text(k, "'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		     "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	sink_xml(k, title, 300);
	sink_text(k, "</title>\n<style>");
	sink_bytes(k, flame_css, flame_css_len);
	sink_text(k, "</style>\n</head>\n<body>\n<noscript>This page draws its picture with a script. "
		     "Without scripts use: vigil flame --format svg</noscript>\n"
		     "<script type=\"application/json\" id=\"data\">");
}

static void flame_html_put_foot(struct sink *k)
{
	sink_text(k, "</script>\n<script>");
	sink_bytes(k, flame_js, flame_js_len);
	sink_text(k, "</script>\n</body>\n</html>\n");
}

static void put_quoted(struct sink *k, const char *before, const char *text)
{
	sink_text(k, before);
	sink_json(k, text);
}

/* Writes each text once, then frames as rows of [name, file, module, line, colour]. */
static int flame_html_put_frames(struct sink *k, const struct stackset *s)
{
	cleanup(textids_freep) struct textids *ids = textids_new();
	size_t n, used = 0, n_texts;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (nodes[i].parent != i)
			used = MAX(used, (size_t)nodes[i].frame + 1);
	sink_text(k, ",\n\"frames\":[");
	for (uint32_t i = 0; i < used; i++) {
		const struct frame *f = stackset_frame(s, i);
		const char *const parts[] = {f->name, f->file, f->module};
		sink_text(k, i ? ",[" : "[");
		for (size_t part = 0; part < ARRAY_SIZE(parts); part++) {
			uint32_t id;
			bool is_new;
			if (textids_of(ids, parts[part], &id, &is_new) < 0)
				return -ENOMEM;
			sink_u64(k, id);
			sink_text(k, ",");
		}
		sink_i64(k, f->line > 0 ? f->line : 0);
		sink_text(k, ",");
		sink_u64(k, flame_colour_of(f));
		sink_text(k, "]");
	}
	sink_text(k, "],\n\"texts\":[");
	const char *const *texts = textids_all(ids, &n_texts);
	for (size_t i = 0; i < n_texts; i++)
		put_quoted(k, i ? ",\n" : "", texts[i]);
	/* short forms of files where they differ, made here so that the page needs no rule of its own */
	sink_text(k, "],\n\"short\":{");
	bool any = false;
	for (size_t i = 1; i < n_texts; i++) {
		const char *brief = frame_file_short(texts[i]);
		if (brief == texts[i])
			continue;
		sink_text(k, any ? ",\"" : "\"");
		sink_u64(k, i);
		put_quoted(k, "\":", brief);
		any = true;
	}
	sink_text(k, "}");
	return 0;
}

/* A column of numbers, one for each node. */
static void put_column(struct sink *k, const char *name, size_t n, uint64_t (*value)(const void *, size_t),
		       const void *context)
{
	sink_text(k, ",\n\"");
	sink_text(k, name);
	sink_text(k, "\":[");
	for (size_t i = 0; i < n && k->r == 0; i++) {
		if (i)
			sink_bytes(k, ",", 1);
		sink_u64(k, value(context, i));
	}
	sink_text(k, "]");
}

static uint64_t value_parent(const void *nodes, size_t i)
{
	return ((const struct stack_node *)nodes)[i].parent;
}

static uint64_t value_frame(const void *nodes, size_t i)
{
	const struct stack_node *n = (const struct stack_node *)nodes + i;
	return n->parent == i ? n->lane : n->frame;
}

static uint64_t value_running(const void *nodes, size_t i)
{
	return ((const struct stack_node *)nodes)[i].self_weight[SAMPLE_RUNNING];
}

static uint64_t value_idle(const void *nodes, size_t i)
{
	return ((const struct stack_node *)nodes)[i].self_weight[SAMPLE_IDLE];
}

static uint64_t value_gil_wait(const void *nodes, size_t i)
{
	return ((const struct stack_node *)nodes)[i].self_weight[SAMPLE_GIL_WAIT];
}

static uint64_t value_gil(const void *nodes, size_t i)
{
	return ((const struct stack_node *)nodes)[i].gil_weight;
}

static uint64_t value_a(const void *rows, size_t i)
{
	return ((const struct stack_diff_row *)rows)[i].a_weight;
}

static uint64_t value_b(const void *rows, size_t i)
{
	return ((const struct stack_diff_row *)rows)[i].b_weight;
}

static void put_meta(struct sink *k, const char *key, const struct stackset *s)
{
	char losses[600];
	const struct stackset_meta *m = stackset_meta_of(s);
	sink_text(k, ",\n\"");
	sink_text(k, key);
	sink_text(k, "\":{");
	flame_put_meta(k, m);
	put_quoted(k, ",\"losses\":", flame_losses(m, losses, sizeof(losses)));
	sink_text(k, flame_counts_only(s) ? ",\"counts_only\":true}" : "}");
}

static int put_page(const struct stackset *s, const struct flame_pair *pair, FILE *to)
{
	struct sink k;
	size_t n;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	const struct stackset_meta *m = stackset_meta_of(pair ? pair->b : s);
	const char *title = m->title[0] ? m->title : pair ? "Difference of two recordings" : "Flame graph";
	sink_open(&k, to);
	k.html = true;
	flame_html_put_head(&k, title);
	put_quoted(&k, "{\"title\":", title);
	if (pair)
		put_meta(&k, "before", pair->a);
	put_meta(&k, "meta", pair ? pair->b : s);
	sink_text(&k, ",\n\"lanes\":");
	flame_put_lanes(&k, s);
	int r = flame_html_put_frames(&k, s);
	put_column(&k, "parent", n, value_parent, nodes);
	put_column(&k, "frame", n, value_frame, nodes);
	if (pair) {
		put_column(&k, "a", n, value_a, pair->rows);
		put_column(&k, "b", n, value_b, pair->rows);
	} else {
		put_column(&k, "running", n, value_running, nodes);
		put_column(&k, "idle", n, value_idle, nodes);
		put_column(&k, "gil_wait", n, value_gil_wait, nodes);
		put_column(&k, "gil", n, value_gil, nodes);
	}
	sink_text(&k, "}");
	flame_html_put_foot(&k);
	int closed = sink_close(&k);
	return r < 0 ? r : closed;
}

int flame_html_write(const struct stackset *s, FILE *to)
{
	cleanup(stackset_freep) struct stackset *thin = NULL;
	size_t n;
	(void)stackset_nodes(s, &n);
	int r = n > MOST_NODES ? flame_thin(s, MOST_NODES, &thin) : 0;
	return r < 0 ? r : put_page(thin ? thin : s, NULL, to);
}

int flame_html_diff(const struct flame_pair *p, FILE *to)
{
	return put_page(p->both, p, to);
}
