#include "cli/screen/stopkey.h"

#include <signal.h>

static volatile bool stopped;

static void on_stop(int signal)
{
	(void)signal;
	stopped = true;
}

const volatile bool *stopkey_begin(bool term)
{
	const struct sigaction action = {.sa_handler = on_stop, .sa_flags = (int)SA_RESETHAND};
	(void)sigaction(SIGINT, &action, NULL);
	if (term)
		(void)sigaction(SIGTERM, &action, NULL);
	return &stopped;
}
