#include "cli/config/config_read.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/foreign.h"
#include "base/foreign_path.h"
#include "base/vec.h"
#include "cli/options/option.h"

#define LARGEST_FILE (1 << 20)
#define LARGEST_CHANNELS 64

/* Only commands that act can be configured; commands that read take flags and the environment. */
static const char *const sections[] = {"run", "map", "watch", "agent", "hub"};
bool config_is_section(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (strcmp(sections[i], name) == 0)
			return true;
	return false;
}

void config_done(struct config *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->entries[i].section);
		free(c->entries[i].key);
		free(c->entries[i].value);
	}
	for (size_t i = 0; i < c->n_files; i++)
		free(c->files[i]);
	free(c->entries);
	*c = (struct config){.entries = NULL};
}

struct reader {
	struct config *config;
	const char *file;
	yaml_document_t *document;
	struct fault *f;
};

static int config_read_wrong(const struct reader *r, const yaml_node_t *at, const char *text)
{
	uint32_t line = (uint32_t)at->start_mark.line + 1, column = (uint32_t)at->start_mark.column + 1;
	if (r->f) {
		TEXT_COPY(r->f->file, r->file);
		r->f->line = line;
		r->f->column = column;
	}
	return fault_set(r->f, -EBADMSG, "%s:%u:%u: %s", r->file, line, column, text);
}

static const char *scalar(const yaml_node_t *n)
{
	return (const char *)n->data.scalar.value;
}

/* A scalar with a NUL inside is refused: only the part before it would be read. */
static bool is_scalar(const yaml_node_t *n)
{
	return n && n->type == YAML_SCALAR_NODE && strlen(scalar(n)) == n->data.scalar.length;
}

static int join_list(const struct reader *r, const yaml_node_t *list, char separator, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	for (yaml_node_item_t *i = list->data.sequence.items.start; i < list->data.sequence.items.top; i++) {
		const yaml_node_t *item = yaml_document_get_node(r->document, *i);
		if (!is_scalar(item))
			return config_read_wrong(r, item ? item : list, "a list may hold plain values only");
		if (strchr(scalar(item), '\x1f'))
			return config_read_wrong(r, item, "a control character is in the value");
		if (i != list->data.sequence.items.start)
			buf_add_n(&b, &separator, 1);
		buf_add(&b, scalar(item));
	}
	return b.cut ? config_read_wrong(r, list, "the list is too long") : 0;
}

static int config_entry_add(const struct reader *r, const char *section, const yaml_node_t *key,
			    const yaml_node_t *value)
{
	struct config *c = r->config;
	char joined[4096];
	const char *text = joined;
	if (value->type == YAML_SEQUENCE_NODE) {
		/* a comma may be part of a channel's argument or of a pattern */
		bool whole = strncmp(section, "notify/", 7) == 0 || strcmp(scalar(key), "progress-pattern") == 0;
		int e = join_list(r, value, whole ? OPTION_ITEM_END : ',', joined, sizeof(joined));
		if (e < 0)
			return e;
	} else if (is_scalar(value)) {
		text = scalar(value);
	} else {
		return config_read_wrong(r, value, "a plain value or a list of them was expected here");
	}
	if (vec_room(&c->entries, &c->cap, c->n + 1) < 0)
		return fault_set(r->f, -ENOMEM, "no memory to read %s", r->file);
	struct config_entry *e = &c->entries[c->n++];
	*e = (struct config_entry){
		.section = strdup(section),
		.key = strdup(scalar(key)),
		.value = strdup(text),
		.line = (uint32_t)key->start_mark.line + 1,
		.column = (uint32_t)key->start_mark.column + 1,
		.file = r->file,
	};
	if (!e->section || !e->key || !e->value)
		return fault_set(r->f, -ENOMEM, "no memory to read %s", r->file);
	return 0;
}

static int read_mapping(const struct reader *r, const char *section, const yaml_node_t *map);

/* "notify:" is a list of mappings: each becomes a section of its own, "notify/0", "notify/1" … */
static int read_channels(const struct reader *r, const yaml_node_t *key, const yaml_node_t *list)
{
	size_t n = 0;
	if (is_scalar(list) && !*scalar(list))
		return 0;
	if (list->type != YAML_SEQUENCE_NODE)
		return config_read_wrong(r, key, "a list of channels was expected here: '- name: …'");
	for (yaml_node_item_t *i = list->data.sequence.items.start; i < list->data.sequence.items.top; i++) {
		const yaml_node_t *item = yaml_document_get_node(r->document, *i);
		char section[32];
		TEXT_FORMAT(section, "notify/%zu", n++);
		if (!item || item->type != YAML_MAPPING_NODE || n > LARGEST_CHANNELS)
			return config_read_wrong(r, item ? item : list,
						 n > LARGEST_CHANNELS
							 ? "too many channels"
							 : "a channel was expected here: a mapping with name and kind");
		if (item->data.mapping.pairs.start == item->data.mapping.pairs.top)
			return config_read_wrong(r, item, "this channel has neither name nor kind");
		int e = read_mapping(r, section, item);
		if (e < 0)
			return e;
	}
	return 0;
}

/* section NULL: the top of the file. A section inside a section is refused, so aliases cannot make a circle. */
static int read_mapping(const struct reader *r, const char *section, const yaml_node_t *map)
{
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const yaml_node_t *key = yaml_document_get_node(r->document, p->key);
		const yaml_node_t *value = yaml_document_get_node(r->document, p->value);
		if (!is_scalar(key) || !value)
			return config_read_wrong(r, key ? key : map, "the name of an option was expected here");
		int e = 0;
		if (!section && strcmp(scalar(key), "notify") == 0)
			e = read_channels(r, key, value);
		else if (!section && value->type == YAML_MAPPING_NODE)
			e = read_mapping(r, scalar(key), value);
		else if (!section && config_is_section(scalar(key)) && is_scalar(value) && !*scalar(value))
			continue; /* "run:" with nothing below */
		else
			e = config_entry_add(r, section ? section : "", key, value);
		if (e < 0)
			return e;
	}
	return 0;
}

static int read_document(const struct reader *r, yaml_parser_t *parser)
{
	if (!yaml_parser_load(parser, r->document)) {
		uint32_t line = (uint32_t)parser->problem_mark.line + 1,
			 column = (uint32_t)parser->problem_mark.column + 1;
		if (r->f) {
			TEXT_COPY(r->f->file, r->file);
			r->f->line = line;
			r->f->column = column;
		}
		return fault_set(r->f, -EBADMSG, "%s:%u:%u: not valid YAML: %s", r->file, line, column,
				 parser->problem ? parser->problem : "it cannot be decoded as text");
	}
	const yaml_node_t *root = yaml_document_get_root_node(r->document);
	int e = 0;
	if (root && root->type == YAML_MAPPING_NODE)
		e = read_mapping(r, NULL, root);
	else if (root && !(is_scalar(root) && !*scalar(root)))
		e = config_read_wrong(r, root, "sections such as 'run:' were expected here");
	yaml_document_delete(r->document);
	return e;
}

static int add_open_file(struct config *c, int fd, const char *path, enum config_kind kind, struct fault *f)
{
	cleanup(freep) char *text = NULL;
	size_t len;
	int e = file_slurp_fd(fd, LARGEST_FILE, &text, &len);
	if (e < 0)
		return fault_set(f, e, "cannot read the configuration %s: %s", path, strerror(-e));
	if (c->n_files == ARRAY_SIZE(c->files))
		return fault_set(f, -E2BIG, "more than %zu configuration files", c->n_files);
	char *file = strdup(path);
	if (!file)
		return fault_set(f, -ENOMEM, "no memory to read %s", path);
	c->files[c->n_files] = file;
	c->kinds[c->n_files++] = kind;
	yaml_parser_t parser;
	yaml_document_t document;
	if (!yaml_parser_initialize(&parser))
		return fault_set(f, -ENOMEM, "no memory to read %s", path);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	e = read_document(&(struct reader){.config = c, .file = file, .document = &document, .f = f}, &parser);
	yaml_parser_delete(&parser);
	return e;
}

int config_add_file(struct config *c, const char *path, enum config_kind kind, struct fault *f)
{
	cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? fault_set(f, -errno, "cannot read the configuration %s: %s", path, strerror(errno))
		      : add_open_file(c, fd, path, kind, f);
}

/*
 * A file that nobody named is not used if it belongs to another user or if everybody may write to it: it could start
 * programs. Root's home may be a user's still (sudo -E, su -m), and a link is whose who made it. What is judged is the
 * file that is open, since its name may stand for another one a moment later.
 */
static bool is_trusted(int fd, const char *path, char note[static 256])
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return false;
	bool mine = st.st_uid == geteuid() || st.st_uid == 0;
	if (mine && (S_ISLNK(st.st_mode) || (st.st_mode & S_IWOTH) == 0))
		return true;
	(void)text_format(note, 256, "%s is not used: %s; 'vigil config check' shows what it says", path,
			  mine ? "everybody may write to it" : "it belongs to another user");
	return false;
}

static int add_found(struct config *c, const char *path, enum config_kind kind, char note[static 256], struct fault *f)
{
	cleanup(closep) int name = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd = -1;
	if (name < 0 || !is_trusted(name, path, note))
		return 0;
	cleanup(closep) int seen = open(path, O_PATH | O_CLOEXEC);
	if (seen < 0 || !is_trusted(seen, path, note))
		return 0;
	/* a user's link on the way may lead to settings of root's that are for something else */
	if (kind == CONFIG_USER && !foreign_path_is_ours(path)) {
		(void)text_format(note, 256, "%s is not used: another user can have its name lead elsewhere", path);
		return 0;
	}
	int e = foreign_reopen(seen, NULL, O_RDONLY, &fd);
	return e ? fault_set(f, e < 0 ? e : -EINVAL, "cannot read the configuration %s: %s", path,
			     e < 0 ? strerror(-e) : "it is no file")
		 : add_open_file(c, fd, path, kind, f);
}

static int add_if_there(struct config *c, const char *path, enum config_kind kind, struct fault *f)
{
	if (access(path, F_OK) < 0)
		return 0;
	return config_add_file(c, path, kind, f);
}

/* Why root must not take what stands in the file; NULL if it may. */
static const char *distrust(const struct stat *st)
{
	if (st->st_uid != 0)
		return "it belongs to another user";
	if (st->st_mode & S_IWOTH)
		return "everybody may write to it";
	return (st->st_mode & S_IWGRP) && st->st_gid != 0 ? "its group may write to it" : NULL;
}

/* What is judged is the file that is open. O_NONBLOCK: a FIFO of another user does not hold root up. */
static int add_named(struct config *c, const char *path, struct fault *f)
{
	cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_set(f, -errno, "cannot read the configuration %s: %s", path, strerror(errno));
	struct foreign_user user;
	const char *why = geteuid() == 0 ? distrust(&st) : NULL;
	if (!why && foreign_path_user(path, &user) != 0)
		why = "another user can have its name lead elsewhere";
	if (why)
		return fault_set(f, -EPERM, "the configuration %s is refused: %s, and what it names is started as root",
				 path, why);
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
		return fault_set(f, -errno, "cannot read the configuration %s: %s", path, strerror(errno));
	return add_open_file(c, fd, path, CONFIG_NAMED, f);
}

int config_load(struct config *c, const char *named, char note[static 256], struct fault *f)
{
	note[0] = '\0';
	const char *variable = getenv("VIGIL_CONFIG"), *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	if (!named && variable && *variable)
		named = variable;
	if (named)
		return add_named(c, named, f);
	int e = add_if_there(c, "/etc/vigil/vigil.yaml", CONFIG_SYSTEM, f);
	char path[PATH_MAX];
	if (xdg && xdg[0] == '/')
		TEXT_FORMAT(path, "%s/vigil/vigil.yaml", xdg);
	else
		TEXT_FORMAT(path, "%s/.config/vigil/vigil.yaml", home ? home : "");
	if (e == 0 && path[0] == '/')
		e = add_found(c, path, CONFIG_USER, note, f);
	return e ? e : add_found(c, "vigil.yaml", CONFIG_PROJECT, note, f);
}

bool config_is_project(const struct config *c, const struct config_entry *e)
{
	for (size_t i = 0; i < c->n_files; i++)
		if (c->files[i] == e->file)
			return c->kinds[i] == CONFIG_PROJECT;
	return false;
}
