/* Texts of a memory kill. Pure: writes the summary, the cause and the advice of an incident whose numbers are known. */
#pragma once

#include "base/base.h"
#include "model/incident/incident.h"

void advice_memory_kill(struct incident *in, uint32_t nproc);
