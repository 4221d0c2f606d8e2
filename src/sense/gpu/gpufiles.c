/*
 * Samples AMD and Intel GPUs through the kernel's files: amdgpu's in sysfs (kernel: gpu/amdgpu/thermal.rst,
 * driver-misc.rst), its compute processes under KFD, and the clients of every DRM device in fdinfo. Reading some of
 * these files calls the device's firmware, which can block, so this runs in the child of gpuprobe.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/gpu/drmfd.h"
#include "sense/gpu/gpuheld.h"
#include "sense/gpu/gpuprobe.h"

#define CLIENTS_MAX 1024
#define DESCRIPTORS_MAX 65536
#define PAUSE_MS 250 /* between two samples of the engines, whose counters only grow */

struct client {
	char pci[24];
	uint64_t id;
};

struct engine_sum {
	char name[24];
	uint64_t busy_ns, cycles, total_cycles;
	uint32_t capacity;
};

struct card {
	char name[16]; /* "card0" */
	struct engine_sum engine[DRMFD_ENGINES];
	size_t n_engines;
};

struct files {
	const struct world *w;
	struct gpu_call *call;
	struct card card[GPU_MAX];
	struct card before[GPU_MAX];
	struct client client[CLIENTS_MAX];
	size_t n_clients;
};

static DIR *folder_open(int at, const char *path)
{
	return file_folder(at < 0 ? -1 : openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static bool gpufiles_text_read(struct files *f, const char *path, char *dst, size_t cap, struct span *ret)
{
	size_t len = 0;
	gpu_call_begin(f->call, "reading sysfs");
	int r = file_read_at(f->w->sys_fd, path, dst, cap, &len);
	gpu_call_end(f->call);
	*ret = span_trim((struct span){dst, len});
	return r == 0;
}

static bool gpufiles_number_read(struct files *f, const char *dir, const char *file, uint64_t *ret)
{
	char path[384], text[64];
	struct span s;
	TEXT_FORMAT(path, "%s/%s", dir, file);
	return gpufiles_text_read(f, path, text, sizeof(text), &s) && span_u64(s, ret) == 0;
}

static void number_take(struct files *f, const char *dir, const char *file, uint64_t divide, enum gpu_value v,
			struct gpu_sample *g)
{
	uint64_t n;
	if (!gpu_has(g, v) && gpufiles_number_read(f, dir, file, &n))
		gpu_value_set(g, v, n / divide);
}

/* Reads the device's first hwmon folder. Its number is not known, because hwmons are numbered machine-wide. */
static void hwmon_take(struct files *f, const char *dir, struct gpu_sample *g)
{
	char path[320];
	TEXT_FORMAT(path, "%s/hwmon", dir);
	cleanup(closedirp) DIR *d = folder_open(f->w->sys_fd, path);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (strncmp(e->d_name, "hwmon", 5) != 0 || strlen(e->d_name) > 32)
			continue;
		TEXT_FORMAT(path, "%s/hwmon/%.32s", dir, e->d_name);
		number_take(f, path, "power1_average", 1000, GPU_POWER, g); /* microwatts */
		number_take(f, path, "power1_input", 1000, GPU_POWER, g);
		number_take(f, path, "power1_cap", 1000, GPU_POWER_LIMIT, g);
		number_take(f, path, "temp1_input", 1000, GPU_TEMPERATURE, g); /* thousandths of a degree */
		number_take(f, path, "freq1_input", 1000000, GPU_SM_CLOCK, g);
		return;
	}
}

/* The file holds "ue: 1\nce: 20": uncorrected and corrected errors. */
static void memory_errors_take(struct files *f, const char *dir, struct gpu_sample *g)
{
	char path[320], text[128];
	struct span s;
	uint64_t n;
	TEXT_FORMAT(path, "%s/ras/umc_err_count", dir);
	if (!gpufiles_text_read(f, path, text, sizeof(text), &s))
		return;
	if (text_field_u64(s, "ue", &n) == 0)
		gpu_value_set(g, GPU_ECC_UNCORRECTED, n);
	if (text_field_u64(s, "ce", &n) == 0)
		gpu_value_set(g, GPU_ECC_CORRECTED, n);
}

static void name_take(struct files *f, const char *dir, const char *fallback, struct gpu_sample *g)
{
	char path[320], text[128];
	struct span s;
	TEXT_FORMAT(path, "%s/product_name", dir);
	if (gpufiles_text_read(f, path, text, sizeof(text), &s) && s.len > 0)
		span_copy(s, g->name, sizeof(g->name));
	else
		TEXT_COPY(g->name, fallback);
	TEXT_FORMAT(path, "%s/unique_id", dir);
	if (gpufiles_text_read(f, path, text, sizeof(text), &s))
		span_copy(s, g->uuid, sizeof(g->uuid));
	TEXT_FORMAT(path, "%s/uevent", dir);
	char event[1024];
	if (gpufiles_text_read(f, path, event, sizeof(event), &s)) {
		struct span slot = span_after(s, "PCI_SLOT_NAME=");
		span_copy(span_before(slot, "\n"), g->pci, sizeof(g->pci));
	}
}

/* False for devices of other vendors: display chips of servers, and NVIDIA GPUs, which NVML reports. */
static bool vendor_take(struct files *f, const char *dir, struct gpu_sample *g)
{
	char path[320], text[32];
	struct span s;
	TEXT_FORMAT(path, "%s/vendor", dir);
	if (!gpufiles_text_read(f, path, text, sizeof(text), &s))
		return false;
	g->vendor = span_eq(s, "0x1002") ? GPU_AMD : GPU_INTEL;
	return span_eq(s, "0x1002") || span_eq(s, "0x8086");
}

/* Takes the number of renderDN, the device file for compute, which is listed beside cardN. */
static void number_of_render(struct files *f, const char *dir, struct gpu_sample *g)
{
	char path[320];
	uint64_t n;
	TEXT_FORMAT(path, "%s/drm", dir);
	cleanup(closedirp) DIR *d = folder_open(f->w->sys_fd, path);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (strncmp(e->d_name, "renderD", 7) != 0 || span_u64(span_of(e->d_name + 7), &n) < 0 ||
		    n < GPUHELD_RENDER_FIRST || n >= GPUHELD_RENDER_FIRST + GPUHELD_NUMBERS)
			continue;
		g->has_number = true;
		g->number = (uint32_t)(n - GPUHELD_RENDER_FIRST);
	}
}

static void card_read(struct files *f, const char *card, struct gpu_set *out)
{
	char dir[128];
	struct gpu_sample g = {.has = 0};
	TEXT_FORMAT(dir, "class/drm/%s/device", card);
	if (!vendor_take(f, dir, &g))
		return;
	if (out->n == GPU_MAX) {
		out->n_dropped++;
		return;
	}
	g.index = (uint32_t)strtoul(card + 4, NULL, 10);
	g.has_processes = true;
	number_of_render(f, dir, &g);
	name_take(f, dir, g.vendor == GPU_AMD ? "AMD GPU" : "Intel GPU", &g);
	number_take(f, dir, "gpu_busy_percent", 1, GPU_BUSY, &g);
	number_take(f, dir, "mem_busy_percent", 1, GPU_MEMORY_BUSY, &g);
	number_take(f, dir, "mem_info_vram_total", 1, GPU_MEMORY_TOTAL, &g);
	number_take(f, dir, "mem_info_vram_used", 1, GPU_MEMORY_USED, &g);
	number_take(f, dir, "current_link_width", 1, GPU_PCIE_WIDTH, &g);
	number_take(f, dir, "max_link_width", 1, GPU_PCIE_WIDTH_MAX, &g);
	hwmon_take(f, dir, &g);
	memory_errors_take(f, dir, &g);
	f->card[out->n] = (struct card){.n_engines = 0};
	text_copy(f->card[out->n].name, sizeof(f->card[0].name), card);
	out->gpu[out->n] = g;
	out->n++;
}

static void cards_read(struct files *f, struct gpu_set *out)
{
	/* Sorted by number; readdir would give them in any order. */
	for (unsigned i = 0; i < 128; i++) {
		char path[48], name[16];
		TEXT_FORMAT(name, "card%u", i);
		TEXT_FORMAT(path, "class/drm/%s/device", name);
		if (f->w->sys_fd >= 0 && faccessat(f->w->sys_fd, path, F_OK, 0) == 0)
			card_read(f, name, out);
	}
}

static int device_at(const struct gpu_set *out, const char *pci)
{
	for (uint32_t i = 0; i < out->n; i++)
		if (pci[0] && strcmp(out->gpu[i].pci, pci) == 0)
			return (int)i;
	return -1;
}

static bool client_new(struct files *f, const struct drmfd *d)
{
	if (!d->has_client)
		return true; /* old kernels give no client id: each descriptor counts */
	for (size_t i = 0; i < f->n_clients; i++)
		if (f->client[i].id == d->client && strcmp(f->client[i].pci, d->pci) == 0)
			return false;
	if (f->n_clients == CLIENTS_MAX)
		return false;
	TEXT_COPY(f->client[f->n_clients].pci, d->pci);
	f->client[f->n_clients++].id = d->client;
	return true;
}

static void engines_add(struct card *c, const struct drmfd *d)
{
	for (size_t i = 0; i < d->n_engines; i++) {
		const struct drmfd_engine *e = &d->engine[i];
		size_t at = 0;
		while (at < c->n_engines && strcmp(c->engine[at].name, e->name) != 0)
			at++;
		if (at == DRMFD_ENGINES)
			continue;
		struct engine_sum *sum = &c->engine[at];
		if (at == c->n_engines) {
			*sum = (struct engine_sum){.capacity = e->capacity};
			TEXT_COPY(sum->name, e->name);
			c->n_engines++;
		}
		sum->busy_ns = add_cap(sum->busy_ns, e->busy_ns);
		sum->cycles = add_cap(sum->cycles, e->cycles);
		/* The device's own clock, equal for all clients. */
		sum->total_cycles = MAX(sum->total_cycles, e->total_cycles);
	}
}

static void client_take(struct files *f, pid_t pid, const struct drmfd *d, struct gpu_set *out)
{
	int at = device_at(out, d->pci);
	if (at < 0 || !client_new(f, d))
		return;
	struct gpu_process *p = gpu_process_at(&out->gpu[at], pid);
	engines_add(&f->card[at], d);
	if (!p)
		return;
	if (p->pid == 0)
		p->by = GPU_BY_OPEN;
	p->pid = pid; /* in our namespace, because it was found in our /proc */
	if (d->memory_bytes)
		p->by = GPU_BY_DRIVER;
	if (d->has_memory) {
		p->memory_bytes = add_cap(p->memory_bytes, d->memory_bytes);
		p->has_memory = true;
	}
	for (size_t i = 0; i < d->n_engines; i++) {
		p->busy_ns = add_cap(p->busy_ns, d->engine[i].busy_ns);
		p->has_busy_ns = p->has_busy_ns || d->engine[i].busy_ns > 0;
		if (d->engine[i].busy_ns || d->engine[i].cycles)
			p->by = GPU_BY_DRIVER;
	}
}

/* For kernels and drivers without client data in fdinfo: only the open device file is known. */
static void bare_take(pid_t pid, struct span link, struct gpu_set *out)
{
	struct gpuheld h = {.card = 0};
	ignore(gpuheld_add(&h, link), "then none has it");
	for (uint32_t i = 0; i < out->n; i++) {
		struct gpu_process *p = gpuheld_has(&h, &out->gpu[i]) ? gpu_process_at(&out->gpu[i], pid) : NULL;
		if (!p)
			continue;
		if (p->pid == 0)
			p->by = GPU_BY_OPEN;
		p->pid = pid;
	}
}

static void process_clients(struct files *f, pid_t pid, struct gpu_set *out)
{
	char path[64], link[64], text[4096];
	TEXT_FORMAT(path, "%d/fd", pid);
	cleanup(closedirp) DIR *d = folder_open(f->w->proc_fd, path);
	int n_read = 0;
	for (struct dirent *e; d && (e = readdir(d)) && n_read < DESCRIPTORS_MAX; n_read++) {
		uint64_t fd;
		struct drmfd one;
		size_t len = 0;
		if (span_u64(span_of(e->d_name), &fd) < 0 || fd > INT_MAX)
			continue;
		ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof(link));
		if (n <= 0 || !span_starts((struct span){link, (size_t)n}, "/dev/dri/"))
			continue;
		TEXT_FORMAT(path, "%d/fdinfo/%d", pid, (int)fd);
		gpu_call_begin(f->call, "reading fdinfo");
		int r = file_read_at(f->w->proc_fd, path, text, sizeof(text), &len);
		gpu_call_end(f->call);
		if (r == 0 && drmfd_parse((struct span){text, len}, &one))
			client_take(f, pid, &one, out);
		else
			bare_take(pid, (struct span){link, (size_t)n}, out);
	}
}

static void clients_read(struct files *f, struct gpu_set *out)
{
	cleanup(closedirp) DIR *d = folder_open(f->w->proc_fd, ".");
	f->n_clients = 0;
	for (uint32_t i = 0; i < out->n; i++) {
		f->card[i].n_engines = 0;
		out->gpu[i].n_processes = 0;
	}
	for (struct dirent *e; d && (e = readdir(d));) {
		uint64_t pid;
		if (span_u64(span_of(e->d_name), &pid) == 0 && pid > 0 && pid <= INT_MAX)
			process_clients(f, (pid_t)pid, out);
	}
}

/* Index of the device with a GPUID of KFD; -1: none. KFD lists compute processes as …/kfd/proc/PID/vram_GPUID. */
static int kfd_device(struct files *f, const char *gpu_id, const struct gpu_set *out)
{
	char dir[64], text[4096], path[96];
	for (unsigned node = 0; node < 64; node++) {
		struct span s;
		uint64_t location, domain = 0;
		TEXT_FORMAT(dir, "class/kfd/kfd/topology/nodes/%u", node);
		TEXT_FORMAT(path, "%s/gpu_id", dir);
		if (!gpufiles_text_read(f, path, text, sizeof(text), &s) || !span_eq(s, gpu_id))
			continue;
		TEXT_FORMAT(path, "%s/properties", dir);
		if (!gpufiles_text_read(f, path, text, sizeof(text), &s) ||
		    text_field_u64(s, "location_id", &location) != 0)
			return -1;
		ignore(text_field_u64(s, "domain", &domain), "old kernels have one domain");
		char pci[24];
		TEXT_FORMAT(pci, "%04x:%02x:%02x.%x", (unsigned)domain & 0xffff, (unsigned)(location >> 8) & 0xff,
			    (unsigned)(location >> 3) & 0x1f, (unsigned)location & 7);
		return device_at(out, pci);
	}
	return -1;
}

static void kfd_process(struct files *f, pid_t pid, const char *dir, struct gpu_set *out)
{
	cleanup(closedirp) DIR *d = folder_open(f->w->sys_fd, dir);
	for (struct dirent *e; d && (e = readdir(d));) {
		uint64_t bytes;
		if (strncmp(e->d_name, "vram_", 5) != 0 || strlen(e->d_name) > 32 ||
		    !gpufiles_number_read(f, dir, e->d_name, &bytes))
			continue;
		int at = kfd_device(f, e->d_name + 5, out);
		struct gpu_process *p = at < 0 ? NULL : gpu_process_at(&out->gpu[at], pid);
		if (!p)
			continue;
		p->memory_bytes = MAX(p->memory_bytes, bytes); /* fdinfo counts part of the same memory */
		p->has_memory = true;
		p->by = GPU_BY_DRIVER;
	}
}

static void kfd_read(struct files *f, struct gpu_set *out)
{
	cleanup(closedirp) DIR *d = folder_open(f->w->sys_fd, "class/kfd/kfd/proc");
	for (struct dirent *e; d && (e = readdir(d));) {
		uint64_t pid;
		char dir[64];
		if (span_u64(span_of(e->d_name), &pid) < 0 || pid == 0 || pid > INT_MAX)
			continue;
		TEXT_FORMAT(dir, "class/kfd/kfd/proc/%d", (int)pid);
		kfd_process(f, (pid_t)pid, dir, out);
	}
}

/* Sets GPU_BUSY to the busiest engine's share of the time between two samples. */
static void busy_take(const struct card *before, const struct card *now, uint64_t wall_ns, struct gpu_sample *g)
{
	uint64_t most = 0;
	for (size_t i = 0; i < now->n_engines; i++) {
		const struct engine_sum *b = NULL, *n = &now->engine[i];
		for (size_t k = 0; k < before->n_engines; k++)
			if (strcmp(before->engine[k].name, n->name) == 0)
				b = &before->engine[k];
		if (!b || wall_ns == 0)
			continue;
		uint64_t cycles = sub_floor(n->total_cycles, b->total_cycles);
		double share = cycles ? (double)sub_floor(n->cycles, b->cycles) / (double)cycles
				      : (double)sub_floor(n->busy_ns, b->busy_ns) / (double)wall_ns;
		most = MAX(most, (uint64_t)(MIN(share / n->capacity, 1.0) * 100 + 0.5));
	}
	if (now->n_engines)
		gpu_value_set(g, GPU_BUSY, most);
}

static void sample_files(void *state, struct gpu_set *out)
{
	struct files *f = state;
	bool twice = false;
	cards_read(f, out);
	if (out->n == 0)
		return;
	clients_read(f, out);
	uint64_t begun = f->w->mono_ns();
	for (uint32_t i = 0; i < out->n; i++)
		twice = twice || (!gpu_has(&out->gpu[i], GPU_BUSY) && f->card[i].n_engines > 0);
	if (twice) {
		memcpy(f->before, f->card, sizeof(f->before));
		ignore(poll(NULL, 0, PAUSE_MS), "the time that passed is measured");
		clients_read(f, out);
		for (uint32_t i = 0; i < out->n; i++)
			if (!gpu_has(&out->gpu[i], GPU_BUSY))
				busy_take(&f->before[i], &f->card[i], f->w->mono_ns() - begun, &out->gpu[i]);
	}
	kfd_read(f, out);
}

static void open_files(const struct world *w, struct gpu_call *call, void **ret_state, struct gpu_set *out)
{
	static struct files f; /* The child runs one backend only. */
	struct gpu_driver *d = &out->driver[out->n_drivers];
	f.w = w;
	f.call = call;
	*ret_state = &f;
	*d = (struct gpu_driver){.name = "kernel files", .state = GPU_DRIVER_READY};
	bool any = w->sys_fd >= 0 && faccessat(w->sys_fd, "class/drm", F_OK, 0) == 0;
	if (!any)
		d->state = GPU_DRIVER_ABSENT;
	TEXT_FORMAT(d->text, "%s", any ? "/sys/class/drm: cards of AMD and Intel" : "there is no /sys/class/drm");
	out->n_drivers++;
}

const struct gpu_backend gpu_backend_files = {"kernel files", "amdgpu, i915, xe", open_files, sample_files};
