#include "tell/memory/ray_show.h"

#include "base/buf.h"
#include "base/units.h"
#include "tell/text/textcols.h"

static struct js *part_json(const struct raynode_part *p)
{
	struct js *j = js_object();
	js_put_text(j, "kind", p->kind);
	js_put_text(j, "name", p->name);
	js_put_u64(j, "processes", p->processes);
	js_put_u64(j, "own_bytes", p->own_bytes);
	js_put_u64(j, "rss_bytes", p->rss_bytes);
	js_put_u64(j, "swap_bytes", p->swap_bytes);
	return j;
}

static struct js *node_json(const struct raynode *n)
{
	struct js *j = js_object(), *parts = js_array(), *store = js_object();
	js_put_i64(j, "raylet_pid", n->raylet);
	js_put_text_if(j, "session", n->session);
	js_put_text_if(j, "node_id", n->id);
	js_put_text_if(j, "address", n->address);
	for (size_t i = 0; i < n->n_parts; i++)
		js_add(parts, part_json(&n->part[i]));
	js_put(j, "components", parts);
	if (n->has_store)
		js_put_u64(store, "bytes", n->store_bytes);
	if (n->store_limit_bytes)
		js_put_u64(store, "limit_bytes", n->store_limit_bytes);
	js_put_text_if(store, "spill_folder", n->spill_folder);
	if (n->has_spilled) {
		js_put_u64(store, "spilled_bytes", n->spilled_bytes);
		js_put_u64(store, "spilled_files", n->spilled_files);
	}
	if (n->spill_cut)
		js_put_bool(store, "spilled_more", true);
	js_put(j, "object_store", store);
	return j;
}

struct js *ray_show_json(const struct footprint *f)
{
	struct js *all = js_array();
	for (size_t i = 0; i < f->n_rays; i++)
		js_add(all, node_json(&f->ray[i]));
	return all;
}

static void store_text(const struct textout *p, const struct raynode *n)
{
	char held[16], limit[16], spilled[16];
	if (n->has_store && n->store_limit_bytes)
		textout_value(p, "objects", "%s of %s taken up in shared memory, which is nobody's own",
			      size_format(n->store_bytes, held), size_format(n->store_limit_bytes, limit));
	else if (n->has_store)
		textout_value(p, "objects", "%s taken up in shared memory, which is nobody's own",
			      size_format(n->store_bytes, held));
	if (n->spilled_files > 0)
		textout_value(p, "spilled", "%s in %zu file%s%s on disk — %s", size_format(n->spilled_bytes, spilled),
			      n->spilled_files, n->spilled_files == 1 ? "" : "s",
			      n->spill_cut ? ", and more that were not counted," : "", n->spill_folder);
	else if (!n->has_spilled && n->spill_folder[0])
		textout_value(p, "spilled", "not known: %s may not be read", n->spill_folder);
}

static void node_text(const struct textout *p, const struct raynode *n)
{
	static const struct textcol cols[] = {
		{.head = "KIND", .width = 10, .left = true, .spare = 1},
		{.head = "NAME", .width = 24, .left = true, .cut = true},
		{.head = "PROCESSES", .width = 9, .spare = 2},
		{.head = "OWN", .width = 11},
		{.head = "RSS", .width = 11, .spare = 3},
		{.head = "       SWAP", .width = 11},
	};
	textout_heading(p, "Ray node%s%s, %s", n->address[0] ? " " : "", n->address,
			n->session[0] ? n->session : "session unknown");
	textcols_head(p, cols, ARRAY_SIZE(cols), 2, false);
	for (size_t i = 0; i < n->n_parts; i++) {
		const struct raynode_part *part = &n->part[i];
		char processes[24], own[16], rss[16], swap[16], last[16];
		TEXT_FORMAT(processes, "%zu", part->processes);
		TEXT_FORMAT(last, "%11s", part->swap_bytes ? size_format(part->swap_bytes, swap) : "-");
		const struct textcells cells = {
			.text = {part->kind, part->name, processes, size_format(part->own_bytes, own),
				 size_format(part->rss_bytes, rss), last},
		};
		textcols_row(p, cols, ARRAY_SIZE(cols), 2, &cells);
	}
	store_text(p, n);
}

void ray_show_text(const struct textout *p, const struct footprint *f)
{
	for (size_t i = 0; i < f->n_rays; i++)
		node_text(p, &f->ray[i]);
}
