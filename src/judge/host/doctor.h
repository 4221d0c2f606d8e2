/*
 * From the start-up probe to findings: what about this machine is dangerous for long jobs, and what vigil cannot do
 * here. For everything that is missing a finding says what suffers and what vigil does instead. Pure.
 */
#pragma once

#include "model/host/finding.h"
#include "model/host/machine.h"

/* Appends to ret. */
void doctor_machine(const struct probe *p, struct findings *ret);
