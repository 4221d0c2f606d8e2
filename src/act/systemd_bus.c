#include "act/systemd_bus.h"

#include <dlfcn.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "base/clock.h"
#include "base/dynlib.h"
#include "base/foreign_path.h"
#include "base/text.h"

static const uint64_t call_usec = 2 * 1000000;
static const uint64_t scope_usec = 300 * 1000; /* the start of a job waits for it */

/* The few functions used, under their own types; loaded at the first call, then kept. */
static struct {
	bool tried, loaded;
	__typeof__(sd_bus_open_user) *open_user;
	__typeof__(sd_bus_open_system) *open_system;
	__typeof__(sd_bus_set_method_call_timeout) *set_method_call_timeout;
	__typeof__(sd_bus_close_unref) *close_unref;
	__typeof__(sd_bus_is_ready) *is_ready;
	__typeof__(sd_bus_process) *process;
	__typeof__(sd_bus_wait) *wait;
	__typeof__(sd_bus_call_method) *call_method;
	__typeof__(sd_bus_call) *call;
	__typeof__(sd_bus_message_new_method_call) *message_new_method_call;
	__typeof__(sd_bus_message_append) *message_append;
	__typeof__(sd_bus_message_open_container) *message_open_container;
	__typeof__(sd_bus_message_close_container) *message_close_container;
	__typeof__(sd_bus_message_read) *message_read;
	__typeof__(sd_bus_message_unref) *message_unref;
	__typeof__(sd_bus_error_free) *error_free;
	__typeof__(sd_bus_error_has_name) *error_has_name;
	__typeof__(sd_bus_get_property_string) *get_property_string;
	__typeof__(sd_bus_get_property_trivial) *get_property_trivial;
} bus;

static bool bus_load(void)
{
	static const char *const names[] = {"libsystemd.so.0"};
	static const struct dynlib_symbol symbols[] = {
		{"sd_bus_open_user", &bus.open_user},
		{"sd_bus_open_system", &bus.open_system},
		{"sd_bus_set_method_call_timeout", &bus.set_method_call_timeout},
		{"sd_bus_close_unref", &bus.close_unref},
		{"sd_bus_is_ready", &bus.is_ready},
		{"sd_bus_process", &bus.process},
		{"sd_bus_wait", &bus.wait},
		{"sd_bus_call_method", &bus.call_method},
		{"sd_bus_call", &bus.call},
		{"sd_bus_message_new_method_call", &bus.message_new_method_call},
		{"sd_bus_message_append", &bus.message_append},
		{"sd_bus_message_open_container", &bus.message_open_container},
		{"sd_bus_message_close_container", &bus.message_close_container},
		{"sd_bus_message_read", &bus.message_read},
		{"sd_bus_message_unref", &bus.message_unref},
		{"sd_bus_error_free", &bus.error_free},
		{"sd_bus_error_has_name", &bus.error_has_name},
		{"sd_bus_get_property_string", &bus.get_property_string},
		{"sd_bus_get_property_trivial", &bus.get_property_trivial},
	};
	if (bus.tried)
		return bus.loaded;
	bus.tried = true;
	bus.loaded = dynlib_load(names, ARRAY_SIZE(names), RTLD_NOW | RTLD_LOCAL, symbols, ARRAY_SIZE(symbols));
	return bus.loaded;
}

static const char service[] = "org.freedesktop.systemd1";
static const char manager_path[] = "/org/freedesktop/systemd1";
static const char manager_interface[] = "org.freedesktop.systemd1.Manager";

static int bus_condition(int r)
{
	switch (-r) {
	case EACCES:
	case EPERM:
		return WORLD_DENIED;
	case ENOENT:
	case ENOMEDIUM:
	case ECONNREFUSED:
	case ENOTCONN:
	case ENOTDIR:
	case EHOSTDOWN:
	case EBADR:
	case ENXIO:
	case EHOSTUNREACH: /* no such service on the bus */
	case ETIMEDOUT:
		return WORLD_ABSENT;
	default:
		return r;
	}
}

/* The timeout of a call does not cover the handshake with the bus, which may last 90 s. */
static int bus_greet(sd_bus *conn, uint64_t usec)
{
	uint64_t until = clock_mono_ns() + usec * NS_PER_US;
	for (;;) {
		int r = bus.is_ready(conn);
		if (r != 0)
			return r < 0 ? r : 0;
		r = bus.process(conn, NULL);
		if (r < 0)
			return r;
		uint64_t left = sub_floor(until, clock_mono_ns()) / NS_PER_US;
		if (left == 0)
			return -ETIMEDOUT;
		if (r == 0)
			r = bus.wait(conn, left);
		if (r < 0 && r != -EINTR)
			return r;
	}
}

/*
 * The library goes by the environment, where an address may be a program to run (unixexec:). Of root's vigil it is one
 * socket, and that of the machine's bus one in whose way no user has a say: sudo -E and su -m keep a user's variables.
 */
static bool bus_address_is_ours(enum systemd_manager m)
{
	static const char socket[] = "unix:path=";
	const char *address =
		getenv(m == SYSTEMD_USER ? "DBUS_SESSION_BUS_ADDRESS" : "DBUS_SYSTEM_BUS_ADDRESS");
	if (geteuid() != 0 || !address)
		return true;
	return span_starts(span_of(address), socket) && !strpbrk(address, ";,%") &&
	       (m == SYSTEMD_USER || foreign_path_is_ours(address + strlen(socket)));
}

static int bus_open(enum systemd_manager m, uint64_t usec, sd_bus **ret)
{
	sd_bus *conn = NULL;
	if (!bus_address_is_ours(m))
		return WORLD_DENIED;
	if (!bus_load())
		return WORLD_ABSENT;
	int r = m == SYSTEMD_USER ? bus.open_user(&conn) : bus.open_system(&conn);
	if (r < 0)
		return bus_condition(r);
	r = bus.set_method_call_timeout(conn, usec);
	if (r >= 0)
		r = bus_greet(conn, usec);
	if (r < 0) {
		bus.close_unref(conn);
		return bus_condition(r);
	}
	*ret = conn;
	return 0;
}

static int unit_path(sd_bus *conn, const char *unit, char **ret)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *reply = NULL;
	const char *path;
	int r = bus.call_method(conn, service, manager_path, manager_interface, "GetUnit", &error, &reply, "s", unit);
	if (r >= 0)
		r = bus.message_read(reply, "o", &path);
	if (r >= 0) {
		*ret = strdup(path);
		r = *ret ? 0 : -ENOMEM;
	}
	if (r < 0 && bus.error_has_name(&error, "org.freedesktop.systemd1.NoSuchUnit"))
		r = -ENOENT;
	bus.message_unref(reply);
	bus.error_free(&error);
	return r;
}

/* Properties of resource control are on the interface of the type of the unit. */
static const char *interface_of(const char *unit)
{
	static const struct {
		const char *suffix, *interface;
	} types[] = {
		{".service", "org.freedesktop.systemd1.Service"},
		{".scope", "org.freedesktop.systemd1.Scope"},
		{".slice", "org.freedesktop.systemd1.Slice"},
	};
	size_t n = strlen(unit);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		size_t k = strlen(types[i].suffix);
		if (n > k && strcmp(unit + n - k, types[i].suffix) == 0)
			return types[i].interface;
	}
	return NULL;
}

/* *ret_is: whether the property has that value; false when this systemd lacks the property. */
static int text_property_is(sd_bus *conn, const char *path, const char *interface, const char *name, const char *value,
			    bool *ret_is)
{
	char *text = NULL;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = bus.get_property_string(conn, service, path, interface, name, &error, &text);
	bus.error_free(&error);
	*ret_is = r >= 0 && strcmp(text, value) == 0;
	free(text);
	return r == -ENOMEM || r == -ETIMEDOUT ? r : 0;
}

static int oomd_read(sd_bus *conn, const char *path, const char *interface, struct systemd_unit_oomd *o)
{
	uint32_t limit = 0;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = text_property_is(conn, path, interface, "ManagedOOMSwap", "kill", &o->swap_kill);
	if (r == 0)
		r = text_property_is(conn, path, interface, "ManagedOOMMemoryPressure", "kill", &o->pressure_kill);
	if (r == 0)
		r = text_property_is(conn, path, interface, "ManagedOOMPreference", "avoid", &o->avoid);
	if (r == 0)
		r = text_property_is(conn, path, interface, "ManagedOOMPreference", "omit", &o->omit);
	/* The value is a fraction of UINT32_MAX. */
	if (r == 0 && bus.get_property_trivial(conn, service, path, interface, "ManagedOOMMemoryPressureLimit", &error,
					       'u', &limit) >= 0)
		o->pressure_limit_ratio = (double)limit / (double)UINT32_MAX;
	bus.error_free(&error);
	return r;
}

int systemd_bus_unit_oomd(enum systemd_manager m, const char *unit, struct systemd_unit_oomd *ret)
{
	sd_bus *conn = NULL;
	cleanup(freep) char *path = NULL;
	struct systemd_unit_oomd o = {.swap_kill = false};
	const char *interface = interface_of(unit);
	if (!interface)
		return WORLD_ABSENT;
	int r = bus_open(m, call_usec, &conn);
	if (r)
		return r;
	r = unit_path(conn, unit, &path);
	if (r == 0)
		r = oomd_read(conn, path, interface, &o);
	bus.close_unref(conn);
	if (r == 0)
		*ret = o;
	return bus_condition(r);
}

static int set_property(enum systemd_manager m, const char *unit, const char *name, const char *text, uint64_t number)
{
	sd_bus *conn = NULL;
	if (!interface_of(unit))
		return WORLD_ABSENT;
	int r = bus_open(m, call_usec, &conn);
	if (r)
		return r;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	const bool runtime = true;
	if (text)
		r = bus.call_method(conn, service, manager_path, manager_interface, "SetUnitProperties", &error, NULL,
				    "sba(sv)", unit, runtime, 1, name, "s", text);
	else
		r = bus.call_method(conn, service, manager_path, manager_interface, "SetUnitProperties", &error, NULL,
				    "sba(sv)", unit, runtime, 1, name, "t", number);
	if (r < 0 && (bus.error_has_name(&error, "org.freedesktop.systemd1.NoSuchUnit") ||
		      bus.error_has_name(&error, SD_BUS_ERROR_PROPERTY_READ_ONLY)))
		r = -ENOENT;
	if (r < 0 && bus.error_has_name(&error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED))
		r = -EACCES;
	bus.error_free(&error);
	bus.close_unref(conn);
	return r < 0 ? bus_condition(r) : 0;
}

int systemd_bus_set_preference(enum systemd_manager m, const char *unit, enum systemd_preference p)
{
	static const char *const names[] = {"none", "avoid", "omit"};
	return set_property(m, unit, "ManagedOOMPreference", names[MIN((size_t)p, ARRAY_SIZE(names) - 1)], 0);
}

int systemd_bus_set_memory(enum systemd_manager m, const char *unit, const char *property, uint64_t bytes)
{
	return set_property(m, unit, property, NULL, bytes);
}

bool systemd_bus_here(void)
{
	return access("/run/systemd/system", F_OK) == 0; /* sd_booted(3), without loading the library */
}

/* Errors of a manager that refuses the scope; WORLD_* conditions, no failures. */
static int scope_condition(const sd_bus_error *error, int r)
{
	if (bus.error_has_name(error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED) ||
	    bus.error_has_name(error, SD_BUS_ERROR_ACCESS_DENIED))
		return WORLD_DENIED;
	return r < 0 ? bus_condition(r) : 0;
}

int systemd_bus_make_scope(enum systemd_manager m, const struct systemd_scope *s)
{
	sd_bus *conn = NULL;
	int r = bus_open(m, scope_usec, &conn);
	if (r)
		return r;
	/*
	 * Before= the unit it is bound to: systemd stops units in the reverse order of their start, so vigil is asked
	 * to end before its job, and a unit that is still starting does not delay the scope.
	 */
	const char *bound = s->bound_to;
	const char *const dependency[] = {"BindsTo", "Before"};
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *msg = NULL;
	r = bus.message_new_method_call(conn, &msg, service, manager_path, manager_interface, "StartTransientUnit");
	if (r >= 0)
		r = bus.message_append(msg, "ss", s->unit, "fail");
	if (r >= 0)
		r = bus.message_open_container(msg, 'a', "(sv)");
	if (r >= 0)
		r = bus.message_append(msg, "(sv)(sv)(sv)(sv)(sv)(sv)", "PIDs", "au", 1, (uint32_t)s->pid, "Delegate",
				       "b", 1, "CollectMode", "s", "inactive-or-failed", "Description", "s",
				       s->description, "Slice", "s", s->slice, "TasksMax", "t", s->tasks_max);
	for (int i = 0; bound && i < 2 && r >= 0; i++)
		r = bus.message_append(msg, "(sv)", dependency[i], "as", 1, bound);
	if (r >= 0)
		r = bus.message_close_container(msg);
	if (r >= 0)
		r = bus.message_append(msg, "a(sa(sv))", 0);
	if (r >= 0)
		r = bus.call(conn, msg, 0, &error, NULL);
	r = scope_condition(&error, r);
	bus.message_unref(msg);
	bus.error_free(&error);
	bus.close_unref(conn);
	return r;
}

int systemd_bus_attach(enum systemd_manager m, const char *unit, const char *below, pid_t pid)
{
	sd_bus *conn = NULL;
	int r = bus_open(m, scope_usec, &conn);
	if (r)
		return r;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	r = bus.call_method(conn, service, manager_path, manager_interface, "AttachProcessesToUnit", &error, NULL,
			    "ssau", unit, below, 1, (uint32_t)pid);
	r = scope_condition(&error, r);
	bus.error_free(&error);
	bus.close_unref(conn);
	return r;
}

int systemd_bus_stop(enum systemd_manager m, const char *unit)
{
	sd_bus *conn = NULL;
	int r = bus_open(m, scope_usec, &conn);
	if (r)
		return r;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	r = bus.call_method(conn, service, manager_path, manager_interface, "StopUnit", &error, NULL, "ss", unit,
			    "replace");
	if (r < 0 && bus.error_has_name(&error, "org.freedesktop.systemd1.NoSuchUnit"))
		r = 0; /* it has ended by itself */
	r = scope_condition(&error, r);
	bus.error_free(&error);
	bus.close_unref(conn);
	return r;
}
