/*
 * Finds the report on a Ray worker by the name of the task or actor that it ran.
 */
#pragma once

#include "tell/store/store.h"

/* name: as of raytitle_is. The newest report, as it was stored, owned by the caller. STORE_NONE: there is none. */
int must_check workercase_find(struct store *store, const char *name, char **ret_json);
