/* A live world, a folder and a child process for each test. */
#pragma once

#include "scratch_fixture.h"

#define NO_PROCESS 0x7ffffff0

static struct world w;
static pid_t child;

static int child_make(void **state)
{
	w = live_world();
	child = child_start();
	return scratch_make(state);
}

static int child_remove(void **state)
{
	child_end(child);
	fixture_close(&w);
	return scratch_remove(state);
}

#define WITH_CHILD(test) cmocka_unit_test_setup_teardown(test, child_make, child_remove)
