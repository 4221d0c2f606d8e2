#include "sense/gpu/drmfd.h"

#include <string.h>

#include "base/buf.h"

/* Parses "123 KiB", "5 ns" or "7" into bytes, ns or a count. */
static bool amount(struct span value, uint64_t *ret)
{
	struct span number, unit = {"", 0};
	uint64_t v, scale = 1;
	if (!span_word(&value, &number) || span_u64(number, &v) < 0)
		return false;
	ignore(span_word(&value, &unit), "bytes or counts have no unit");
	if (span_eq(unit, "KiB") || span_eq(unit, "kB"))
		scale = KIB;
	else if (span_eq(unit, "MiB"))
		scale = MIB;
	return !__builtin_mul_overflow(v, scale, ret);
}

static struct drmfd_engine *engine_at(struct drmfd *d, struct span name)
{
	char text[sizeof(d->engine[0].name)];
	span_copy(name, text, sizeof(text));
	for (size_t i = 0; i < d->n_engines; i++)
		if (strcmp(d->engine[i].name, text) == 0)
			return &d->engine[i];
	if (d->n_engines == DRMFD_ENGINES) {
		d->n_dropped++;
		return NULL;
	}
	struct drmfd_engine *e = &d->engine[d->n_engines++];
	*e = (struct drmfd_engine){.capacity = 1};
	TEXT_COPY(e->name, text);
	return e;
}

static bool key_under(struct span key, const char *prefix, struct span *ret_name)
{
	if (!span_starts(key, prefix))
		return false;
	size_t n = strlen(prefix);
	*ret_name = (struct span){key.p + n, key.len - n};
	return ret_name->len > 0;
}

static void engine_line(struct drmfd *d, struct span key, uint64_t v)
{
	struct span name;
	struct drmfd_engine *e;
	if (key_under(key, "drm-engine-capacity-", &name)) {
		e = engine_at(d, name);
		if (e && v > 0 && v <= 1024)
			e->capacity = (uint32_t)v;
	} else if (key_under(key, "drm-engine-", &name)) {
		e = engine_at(d, name);
		if (e)
			e->busy_ns = v;
	} else if (key_under(key, "drm-total-cycles-", &name)) {
		e = engine_at(d, name);
		if (e)
			e->total_cycles = v;
	} else if (key_under(key, "drm-cycles-", &name)) {
		e = engine_at(d, name);
		if (e)
			e->cycles = v;
	}
}

/* True for regions in the device's own memory; "system" and "gtt" lie in the host's memory. */
static bool region_is_local(struct span name)
{
	return span_starts(name, "vram") || span_starts(name, "local");
}

struct regions {
	uint64_t memory, total, resident; /* bytes by the three keys that kernels have used */
	bool has_memory, has_total, has_resident;
};

static void memory_line(struct regions *m, struct span key, uint64_t v)
{
	struct span name;
	if (key_under(key, "drm-resident-", &name) && region_is_local(name)) {
		m->resident = add_cap(m->resident, v);
		m->has_resident = true;
	} else if (key_under(key, "drm-total-", &name) && region_is_local(name)) {
		m->total = add_cap(m->total, v);
		m->has_total = true;
	} else if ((key_under(key, "drm-memory-", &name) && region_is_local(name)) || span_eq(key, "vram mem")) {
		m->memory = add_cap(m->memory, v);
		m->has_memory = true;
	}
}

bool drmfd_parse(struct span text, struct drmfd *ret)
{
	struct drmfd d = {.n_engines = 0};
	struct regions m = {.memory = 0};
	struct span line;
	while (span_line(&text, &line)) {
		struct span key = span_before(line, ":"), value = span_after(line, ":");
		uint64_t v;
		if (!value.p)
			continue;
		value = span_trim(value);
		if (span_eq(key, "drm-driver"))
			span_copy(value, d.driver, sizeof(d.driver));
		else if (span_eq(key, "drm-pdev") || span_eq(key, "pdev"))
			span_copy(value, d.pci, sizeof(d.pci));
		else if (span_eq(key, "drm-client-id"))
			d.has_client = span_u64(value, &d.client) == 0;
		else if (amount(value, &v)) {
			engine_line(&d, key, v);
			memory_line(&m, key, v);
		}
	}
	d.has_memory = m.has_resident || m.has_memory || m.has_total;
	d.memory_bytes = m.has_resident ? m.resident : m.has_memory ? m.memory : m.total;
	if (!d.driver[0] && d.pci[0] && m.has_memory)
		TEXT_COPY(d.driver, "amdgpu"); /* Older amdgpu drivers write keys of their own and no drm-driver. */
	if (!d.driver[0])
		return false;
	*ret = d;
	return true;
}
