#include "sense/rules/hyperscan.h"

#include <dlfcn.h>
#include <hs/hs.h>
#include <string.h>

#include "base/dynlib.h"

struct api {
	__typeof__(hs_compile_lit_multi) *compile;
	__typeof__(hs_free_compile_error) *free_error;
	__typeof__(hs_free_database) *free_database;
	__typeof__(hs_alloc_scratch) *alloc_scratch;
	__typeof__(hs_free_scratch) *free_scratch;
	__typeof__(hs_scan) *scan;
	__typeof__(hs_valid_platform) *valid_platform;
};

struct hyperscan {
	struct api api;
	hs_database_t *database;
	hs_scratch_t *scratch;
	literal_found *found;
	void *data;
};

static bool api_load(struct api *a)
{
	static const char *const names[] = {"libhs.so.5"};
	const struct dynlib_symbol wanted[] = {
		{"hs_compile_lit_multi", &a->compile},	   {"hs_free_compile_error", &a->free_error},
		{"hs_free_database", &a->free_database},   {"hs_alloc_scratch", &a->alloc_scratch},
		{"hs_free_scratch", &a->free_scratch},	   {"hs_scan", &a->scan},
		{"hs_valid_platform", &a->valid_platform},
	};
	/* The library stays loaded, because the code of a database may be in use. */
	const int flags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
	return dynlib_load(names, ARRAY_SIZE(names), flags, wanted, ARRAY_SIZE(wanted)) &&
	       a->valid_platform() == HS_SUCCESS;
}

static int compile(struct hyperscan *h, const struct literal *l, size_t n)
{
	cleanup(freep) const char **texts = calloc(n, sizeof(*texts));
	cleanup(freep) unsigned *flags = calloc(n, sizeof(*flags)), *ids = calloc(n, sizeof(*ids));
	cleanup(freep) size_t *view = calloc(n, sizeof(*view));
	hs_compile_error_t *error = NULL;
	if (!texts || !flags || !ids || !view)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		texts[i] = l[i].text;
		view[i] = strlen(l[i].text);
		ids[i] = (unsigned)i;
		flags[i] = l[i].ignore_case ? HS_FLAG_CASELESS : 0;
	}
	hs_error_t e = h->api.compile(texts, flags, ids, view, (unsigned)n, HS_MODE_BLOCK, NULL, &h->database, &error);
	if (error)
		h->api.free_error(error);
	if (e != HS_SUCCESS)
		return LITERAL_ABSENT;
	return h->api.alloc_scratch(h->database, &h->scratch) == HS_SUCCESS ? 0 : -ENOMEM;
}

int hyperscan_new(const struct literal *l, size_t n, struct hyperscan **ret)
{
	struct hyperscan *h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	int r = api_load(&h->api) ? compile(h, l, n) : LITERAL_ABSENT;
	if (r != 0) {
		hyperscan_free(h);
		return r;
	}
	*ret = h;
	return 0;
}

struct hyperscan *hyperscan_free(struct hyperscan *h)
{
	if (!h)
		return NULL;
	if (h->scratch)
		h->api.free_scratch(h->scratch);
	if (h->database)
		h->api.free_database(h->database);
	free(h);
	return NULL;
}

static int on_match(unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *data)
{
	struct hyperscan *h = data;
	(void)from;
	(void)flags;
	h->found(h->data, id, (size_t)to);
	return 0;
}

int hyperscan_scan(struct hyperscan *h, struct span text, literal_found *found, void *data)
{
	if (text.len > UINT32_MAX)
		return -EFBIG;
	h->found = found;
	h->data = data;
	hs_error_t e = h->api.scan(h->database, text.p, (unsigned)text.len, 0, h->scratch, on_match, h);
	return e == HS_SUCCESS ? 0 : -EIO;
}
