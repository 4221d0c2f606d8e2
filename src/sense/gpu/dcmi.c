/*
 * Samples Ascend NPUs through DCMI, which is loaded at run time. Runs in the child of gpuprobe. DCMI must not
 * be called often or by many processes at once, so a second sample within one second returns the values of the first.
 */
#include "sense/gpu/dcmi_abi.h"

#include <dlfcn.h>
#include <string.h>

#include "base/buf.h"
#include "base/dynlib.h"
#include "base/foreign_path.h"
#include "sense/gpu/gpuprobe.h"

#define LIBRARY "libdcmi.so"
#define PERIOD_NS NS_PER_S
#define CARDS_MAX 64

#define FUNCTIONS(F)                                                                                                   \
	F(init, (void), "dcmi_init")                                                                                   \
	F(cards, (int *, int *, int), "dcmi_get_card_list", "dcmi_get_card_num_list")                                  \
	F(devices, (int, int *), "dcmi_get_device_num_in_card")                                                        \
	F(version, (char *, unsigned), "dcmi_get_driver_version")                                                      \
	F(chip, (int, int, struct dcmi_chip *), "dcmi_get_device_chip_info")                                           \
	F(use, (int, int, int, uint32_t *), "dcmi_get_device_utilization_rate")                                        \
	F(hbm, (int, int, struct dcmi_hbm *), "dcmi_get_device_hbm_info", "dcmi_get_hbm_info")                         \
	F(power, (int, int, int *), "dcmi_get_device_power_info")                                                      \
	F(temperature, (int, int, int *), "dcmi_get_device_temperature")                                               \
	F(clock, (int, int, int, uint32_t *), "dcmi_get_device_frequency")                                             \
	F(health, (int, int, uint32_t *), "dcmi_get_device_health")                                                    \
	F(processes, (int, int, struct dcmi_process *, int *), "dcmi_get_device_resource_info")                        \
	F(logic_id, (int *, int, int), "dcmi_get_device_logic_id")                                                     \
	F(physical_id, (uint32_t, uint32_t *), "dcmi_get_device_phyid_from_logicid")

struct device {
	int card, chip; /* card numbers can have gaps */
};

struct dcmi {
	void *library;
	struct gpu_call *call;
	const struct world *world;
#define MEMBER(member, parameters, ...) int(*member) parameters;
	FUNCTIONS(MEMBER)
#define SYMBOL(member, parameters, ...) const char *member##_symbol;
	FUNCTIONS(SYMBOL)
	struct device device[GPU_MAX];
	uint32_t n, n_dropped;
	uint64_t sampled_ns;
	struct gpu_sample last[GPU_MAX];
};

/* Calls a function with its name in *call. -1 also if the library has no such function. */
#define CALL(d, member, ...)                                                                                           \
	({                                                                                                             \
		int answer_ = -1;                                                                                      \
		if ((d)->member) {                                                                                     \
			gpu_call_begin((d)->call, (d)->member##_symbol);                                               \
			answer_ = (d)->member(__VA_ARGS__);                                                            \
			gpu_call_end((d)->call);                                                                       \
		}                                                                                                      \
		answer_;                                                                                               \
	})

/*
 * Sets slot to the first of the names that the library has, and *ret_name to that name; to the last one if it has
 * none.
 */
static void symbol_find(void *library, const char *const *names, void *slot, const char **ret_name)
{
	for (; *names; names++) {
		*ret_name = *names;
		if (dynlib_symbol(library, *names, slot))
			return;
	}
}

static void symbols_bind(struct dcmi *d)
{
#define BIND(m, parameters, ...)                                                                                       \
	{                                                                                                              \
		static const char *const names[] = {__VA_ARGS__, NULL};                                                \
		symbol_find(d->library, names, &d->m, &d->m##_symbol);                                                 \
	}
	FUNCTIONS(BIND)
}

static const char *library_path(void)
{
	const char *p = foreign_path_variable("VIGIL_DCMI_PATH");
	return p ? p : LIBRARY;
}

static int devices_find(struct dcmi *d)
{
	int list[CARDS_MAX] = {0}, n = 0;
	int r = CALL(d, cards, &n, list, CARDS_MAX);
	for (int i = 0; r == 0 && i < MIN(n, CARDS_MAX); i++) {
		int chips = 0;
		if (CALL(d, devices, list[i], &chips) != 0)
			continue;
		for (int k = 0; k < chips; k++) {
			if (d->n < GPU_MAX)
				d->device[d->n++] = (struct device){list[i], k};
			else
				d->n_dropped++;
		}
	}
	return r;
}

static void open_dcmi(const struct world *w, struct gpu_call *call, void **ret_state, struct gpu_set *out)
{
	static struct dcmi d; /* The child runs one backend only. */
	struct gpu_driver *line = &out->driver[out->n_drivers];
	*line = (struct gpu_driver){.name = "DCMI", .state = GPU_DRIVER_ABSENT};
	d = (struct dcmi){.call = call, .world = w};
	*ret_state = &d;
	gpu_call_begin(call, "dlopen");
	d.library = dlopen(library_path(), RTLD_NOW | RTLD_LOCAL);
	gpu_call_end(call);
	if (!d.library) {
		const char *why = dlerror();
		TEXT_FORMAT(line->text, "%s cannot be loaded (%s)", library_path(), why ? why : "no reason given");
		out->n_drivers++;
		return;
	}
	symbols_bind(&d);
	line->state = GPU_DRIVER_FAILED;
	int r = CALL(&d, init);
	const char *which = d.init_symbol;
	if (r == 0) {
		r = devices_find(&d);
		which = d.cards_symbol;
	}
	if (r == 0) {
		ignore(CALL(&d, version, line->version, sizeof(line->version)), "empty then");
		line->version[sizeof(line->version) - 1] = '\0';
		line->state = GPU_DRIVER_READY;
		TEXT_FORMAT(line->text, "%s: %u devices", library_path(), d.n);
	} else {
		TEXT_FORMAT(line->text, "%s is here, but %s answered %d", library_path(), which, r);
		struct gpu_finding *f = gpu_finding_add(out, GPU_FAILED, which, "",
							"DCMI: %s answered %d; npu-smi info "
							"tells whether the driver works at all",
							which, r);
		f->code = r;
	}
	out->n_drivers++;
}

static void processes_read(struct dcmi *d, const struct device *at, struct gpu_sample *g)
{
	/* Four times the interface's 32 rows, in case a driver writes more. */
	static struct dcmi_process list[4 * DCMI_PROCESSES];
	int n = DCMI_PROCESSES;
	memset(list, 0, sizeof(list));
	if (CALL(d, processes, at->card, at->chip, list, &n) != 0)
		return;
	g->has_processes = true;
	for (int i = 0; i < MIN(n, (int)ARRAY_SIZE(list)); i++) {
		struct gpu_process *p = list[i].pid > 0 ? gpu_process_at(g, list[i].pid) : NULL;
		if (!p)
			continue;
		p->memory_bytes = add_cap(p->memory_bytes, list[i].bytes);
		p->has_memory = true;
	}
}

static void percent_take(struct gpu_sample *g, enum gpu_value v, int r, uint32_t percent)
{
	if (r == 0 && percent <= 100)
		gpu_value_set(g, v, percent);
}

static void values_read(struct dcmi *d, const struct device *at, struct gpu_sample *g)
{
	struct dcmi_hbm hbm = {.size_mib = 0};
	uint32_t v = 0;
	int power = 0, heat = 0;
	int r = CALL(d, use, at->card, at->chip, DCMI_USE_CORE, &v);
	percent_take(g, GPU_BUSY, r, v);
	r = CALL(d, use, at->card, at->chip, DCMI_USE_HBM_BANDWIDTH, &v);
	percent_take(g, GPU_MEMORY_BUSY, r, v);
	if (CALL(d, hbm, at->card, at->chip, &hbm) == 0) {
		gpu_value_set(g, GPU_MEMORY_TOTAL, hbm.size_mib * MIB);
		gpu_value_set(g, GPU_MEMORY_USED, hbm.used_mib * MIB);
		gpu_value_set(g, GPU_MEMORY_CLOCK, hbm.clock_mhz);
	}
	if (CALL(d, power, at->card, at->chip, &power) == 0 && power >= 0)
		gpu_value_set(g, GPU_POWER, (uint64_t)power * 100); /* DCMI reports tenths of a watt */
	if (CALL(d, temperature, at->card, at->chip, &heat) == 0 && heat >= 0 && heat < 1000)
		gpu_value_set(g, GPU_TEMPERATURE, (uint64_t)heat);
	if (CALL(d, clock, at->card, at->chip, DCMI_CLOCK_CORE, &v) == 0)
		gpu_value_set(g, GPU_SM_CLOCK, v);
	if (CALL(d, clock, at->card, at->chip, DCMI_CLOCK_CORE_MAX, &v) == 0)
		gpu_value_set(g, GPU_SM_CLOCK_MAX, v);
	if (CALL(d, health, at->card, at->chip, &v) == 0 && v <= 3)
		gpu_value_set(g, GPU_HEALTH, v);
}

static void dcmi_device_read(struct dcmi *d, uint32_t i, struct gpu_set *out)
{
	const struct device *at = &d->device[i];
	struct gpu_sample *g = &out->gpu[out->n];
	struct dcmi_chip chip;
	int logic = 0;
	memset(g, 0, sizeof(*g));
	memset(&chip, 0, sizeof(chip));
	g->vendor = GPU_HUAWEI;
	g->index = i;
	out->n++; /* If a later call blocks, the device is still reported, with the values read so far. */
	if (CALL(d, logic_id, &logic, at->card, at->chip) == 0 && logic >= 0) {
		g->index = (uint32_t)logic;
		/* Device files are named by the physical number. In a container the logical one can differ from it. */
		g->has_number = CALL(d, physical_id, g->index, &g->number) == 0;
	}
	if (CALL(d, chip, at->card, at->chip, &chip) == 0)
		TEXT_FORMAT(g->name, "%.32s %.32s", chip.type, chip.name);
	TEXT_FORMAT(g->uuid, "npu card %d chip %d", at->card, at->chip);
	values_read(d, at, g);
	processes_read(d, at, g);
	d->last[i] = *g;
}

static void sample_dcmi(void *state, struct gpu_set *out)
{
	struct dcmi *d = state;
	uint64_t now = d->world->mono_ns();
	bool again = d->sampled_ns && now - d->sampled_ns < PERIOD_NS;
	out->n_dropped = d->n_dropped;
	for (uint32_t i = 0; i < d->n; i++) {
		if (again)
			out->gpu[out->n++] = d->last[i];
		else
			dcmi_device_read(d, i, out);
	}
	if (!again)
		d->sampled_ns = d->world->mono_ns();
}

const struct gpu_backend gpu_backend_dcmi = {"DCMI", LIBRARY, open_dcmi, sample_dcmi};
