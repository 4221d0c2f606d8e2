/*
 * Calls to systemd over D-Bus: reads and sets the systemd-oomd properties of a unit, and makes a scope for a job. The
 * only user of sd-bus. libsystemd is loaded at the first call, because linking it adds 0.5 to 0.8 ms (seven libraries)
 * to every start of the program. Sources: org.freedesktop.systemd1(5), systemd.resource-control(5).
 *
 * Calls wait at most 2 s, those for scopes at most 300 ms, as the start of a job waits for them. WORLD_ABSENT: no
 * systemd or no bus here, or no such unit; WORLD_DENIED: refused by polkit.
 */
#pragma once

#include "sense/world.h"

enum systemd_manager { SYSTEMD_SYSTEM, SYSTEMD_USER };

struct systemd_unit_oomd {
	bool swap_kill, pressure_kill;   /* ManagedOOMSwap=, ManagedOOMMemoryPressure= */
	double pressure_limit_ratio;     /* ManagedOOMMemoryPressureLimit=; 0: the default */
	bool avoid, omit;                /* ManagedOOMPreference= */
};

int must_check systemd_bus_unit_oomd(enum systemd_manager m, const char *unit, struct systemd_unit_oomd *ret);

enum systemd_preference { SYSTEMD_NONE, SYSTEMD_AVOID, SYSTEMD_OMIT };
/* Sets the property until the next boot; the file of the unit stays unchanged. */
int must_check systemd_bus_set_preference(enum systemd_manager m, const char *unit, enum systemd_preference p);
/* bytes UINT64_MAX is infinity. property: "MemoryLow" or "MemoryMin". */
int must_check systemd_bus_set_memory(enum systemd_manager m, const char *unit, const char *property, uint64_t bytes);

/* True if systemd is the init system; reads one folder and does not use the bus. */
bool systemd_bus_here(void);

struct systemd_scope {
	const char *unit;        /* ends in ".scope" */
	const char *description;
	const char *slice;
	const char *bound_to;    /* the unit whose end is the scope's end too; NULL: none */
	pid_t pid;               /* its first process */
	uint64_t tasks_max;      /* UINT64_MAX: no limit */
};
/* Asks for the scope; systemd makes it shortly after the answer. */
int must_check systemd_bus_make_scope(enum systemd_manager m, const struct systemd_scope *s);
/* Asks for the end of a unit; 0 also where it has ended. Its processes, if it has any, are ended. */
int must_check systemd_bus_stop(enum systemd_manager m, const char *unit);
/* Has the manager move a process into a group below its unit, where vigil may not. below: "/job". */
int must_check systemd_bus_attach(enum systemd_manager m, const char *unit, const char *below, pid_t pid);
