#include <string.h>

#include "base/buf.h"
#include "base/vec.h"
#include "tell/stacks/flame_parts.h"

/* The path from the root to the current node as text; ends[d] is its length with d frames. */
struct path {
	char *text;
	size_t cap, depth, cap_ends;
	size_t *ends;
	struct label label;
};

static void path_done(struct path *p)
{
	free(p->text);
	free(p->ends);
	label_done(&p->label);
}

/* Sets the frame at depth (from 0) to f and drops deeper ones. */
static int path_set(struct path *p, size_t depth, const struct frame *f)
{
	int r = label_of(&p->label, f);
	if (r < 0)
		return r;
	if (vec_room(&p->ends, &p->cap_ends, depth + 2) < 0)
		return -ENOMEM;
	if (depth == 0)
		p->ends[0] = 0;
	size_t at = p->ends[depth], len = strlen(p->label.text);
	if (vec_room(&p->text, &p->cap, at + len + 2) < 0)
		return -ENOMEM;
	if (depth > 0)
		p->text[at++] = ';';
	memcpy(p->text + at, p->label.text, len);
	p->ends[depth + 1] = at + len;
	p->depth = depth + 1;
	return 0;
}

/* Next node in depth-first order below root, 0 at the end. */
static uint32_t next_node(const struct stack_node *nodes, uint32_t at, size_t *depth)
{
	if (nodes[at].first_child) {
		(*depth)++;
		return nodes[at].first_child;
	}
	while (nodes[at].parent != at) {
		if (nodes[at].next_sibling)
			return nodes[at].next_sibling;
		at = nodes[at].parent;
		(*depth)--;
	}
	return 0;
}

static void put_path(struct sink *k, const struct path *p)
{
	sink_bytes(k, p->text, p->ends[p->depth]);
}

static int write_lane(const struct stackset *s, uint32_t root, const struct stack_diff_row *rows, struct sink *k)
{
	cleanup(path_done) struct path p = {0};
	size_t n, depth = 0;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	for (uint32_t at = root; (at = next_node(nodes, at, &depth));) {
		int r = path_set(&p, depth - 1, stackset_frame(s, nodes[at].frame));
		if (r < 0)
			return r;
		bool bytes = stackset_meta_of(s)->unit == STACK_BYTES;
		uint64_t a = bytes ? stack_node_weight(&nodes[at]) : stack_node_samples(&nodes[at]), b = 0;
		if (rows) {
			a = bytes ? rows[at].a_weight : rows[at].a_samples;
			b = bytes ? rows[at].b_weight : rows[at].b_samples;
		}
		if (a == 0 && b == 0)
			continue;
		put_path(k, &p);
		sink_text(k, " ");
		sink_u64(k, a);
		if (rows) {
			sink_text(k, " ");
			sink_u64(k, b);
		}
		sink_text(k, "\n");
		if (k->r < 0)
			return k->r;
	}
	return 0;
}

static int flame_folded_write_all(const struct stackset *s, const struct stack_diff_row *rows, FILE *to)
{
	struct sink k;
	size_t n_lanes;
	int r = 0;
	(void)stackset_lanes(s, &n_lanes);
	sink_open(&k, to);
	for (uint32_t i = 0; i < n_lanes && r == 0; i++)
		r = write_lane(s, stackset_root(s, i), rows, &k);
	int closed = sink_close(&k);
	return r < 0 ? r : closed;
}

int flame_folded_write(const struct stackset *s, FILE *to)
{
	return flame_folded_write_all(s, NULL, to);
}

int flame_folded_diff(const struct flame_pair *p, FILE *to)
{
	return flame_folded_write_all(p->both, p->rows, to);
}

/* name, file and module are cut out of one copy of the label. */
static void split_python(struct frame *f, char *label)
{
	size_t len = strlen(label);
	char *open = len > 3 && label[len - 1] == ')' ? strrchr(label, '(') : NULL;
	if (!open || open < label + 2 || open[-1] != ' ')
		return;
	char *end = label + len - 1, *colon = strrchr(open, ':');
	uint64_t line = 0;
	bool has_line = colon && span_u64((struct span){colon + 1, (size_t)(end - colon - 1)}, &line) == 0 &&
			line > 0 && line <= INT32_MAX;
	bool is_py = end - open > 4 && strncmp(end - 3, ".py", 3) == 0;
	if (!has_line && !is_py && open[1] != '<')
		return;
	open[-1] = '\0';
	*end = '\0';
	if (has_line)
		*colon = '\0';
	f->kind = FRAME_PYTHON;
	f->file = open + 1;
	f->line = (int32_t)line;
}

static void split_label(struct frame *f, char *label)
{
	size_t len = strlen(label);
	*f = (struct frame){.kind = FRAME_NATIVE, .name = label, .file = "", .module = ""};
	if (len == 0 || label[len - 1] != ']') {
		split_python(f, label);
		return;
	}
	char *open = strrchr(label, '[');
	if (label[0] == '[') {
		f->kind = FRAME_NOTE;
	} else if (open && open > label + 1 && open[-1] == ' ' && open[1] != ']') {
		open[-1] = '\0';
		label[len - 1] = '\0';
		f->module = open + 1;
		if (strcmp(f->module, "kernel") == 0) {
			f->kind = FRAME_KERNEL;
			f->module = "";
		}
	}
}

struct reader {
	struct stackset *to;
	uint32_t root;
	char *label;
	size_t cap;
};

static void reader_done(struct reader *r)
{
	free(r->label);
}

static int read_frame(struct reader *rd, struct span text, uint32_t parent, uint32_t *ret)
{
	if (vec_room(&rd->label, &rd->cap, text.len + 1) < 0)
		return -ENOMEM;
	memcpy(rd->label, text.p, text.len);
	rd->label[text.len] = '\0';
	for (size_t i = 0; i < text.len; i++)
		if (!rd->label[i])
			rd->label[i] = '?';
	struct frame f;
	uint32_t id;
	split_label(&f, rd->label);
	int r = frametab_intern(stackset_frames(rd->to), &f, &id);
	return r < 0 ? r : stackset_child(rd->to, parent, id, ret);
}

static int read_line(struct reader *rd, struct span line, struct fault *f)
{
	const char *space = span_rfind(line, " ");
	uint64_t count;
	if (!space || space == line.p ||
	    span_u64((struct span){space + 1, (size_t)(line.p + line.len - space - 1)}, &count) < 0)
		return fault_set(f, -EBADMSG, "expected 'frame;frame;frame count', and there is no count at the end");
	struct span path = {line.p, (size_t)(space - line.p)};
	uint32_t node = rd->root;
	for (bool more = true; more;) {
		const char *semicolon = memchr(path.p, ';', path.len);
		struct span part = {path.p, semicolon ? (size_t)(semicolon - path.p) : path.len};
		int r = read_frame(rd, part, node, &node);
		if (r < 0)
			return r;
		more = semicolon;
		if (more)
			path = (struct span){semicolon + 1, path.len - part.len - 1};
	}
	const struct stack_node add = {.self_weight = {count}, .self_samples = {count}};
	stack_node_add(stackset_node(rd->to, node), &add);
	stackset_meta(rd->to)->samples = add_cap(stackset_meta(rd->to)->samples, count);
	return 0;
}

int flame_folded_read(struct span text, struct stackset *to, struct fault *f)
{
	cleanup(reader_done) struct reader rd = {.to = to};
	const struct stack_lane all = {.rank = NO_RANK};
	uint32_t lane, number = 0;
	int r = stackset_lane(to, &all, &lane);
	if (r < 0)
		return r;
	rd.root = stackset_root(to, lane);
	for (struct span line; span_line(&text, &line);) {
		number++;
		line = span_trim(line);
		if (line.len == 0)
			continue;
		r = read_line(&rd, line, f);
		if (r == -EBADMSG && f)
			f->line = number;
		if (r < 0)
			return r;
	}
	return 0;
}
