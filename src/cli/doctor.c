#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/world_open.h"
#include "agent/incident/leftover.h"
#include "agent/jobs/unguarded.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/state.h"
#include "judge/host/doctor.h"
#include "tell/host/findings.h"

struct doctor_options {
	bool json;
};

static const struct option doctor_options[] = {
	OPTION_JSON(doctor_options),
	OPTION_END,
};

static void doctor_show(const struct findings *all)
{
	size_t warnings = 0;
	for (size_t i = 0; i < all->n; i++)
		warnings += all->row[i].severity >= SEVERITY_WARNING ? 1 : 0;
	findings_text(all, isatty(STDOUT_FILENO) && !getenv("NO_COLOR"), stdout);
	if (warnings)
		printf("\n%zu of %zu findings need attention.\n", warnings, all->n);
	else
		printf("%sNothing on this machine endangers long jobs%s.\n", all->n ? "\n" : "",
		       all->n ? "; the notes say what vigil does in another way here" : "");
}

static void crowd_finding(const struct unguarded *u, struct findings *all)
{
	char text[200];
	unguarded_text(u, text, sizeof(text));
	struct finding *f = finding_add(all, "jobs-unguarded", SEVERITY_WARNING, "%s", text);
	finding_advice(f, "name fewer programs in the agent's --command, or start large ones under vigil run");
}

static int doctor_run(const void *options, int argc, char **argv)
{
	const struct doctor_options *o = options;
	struct world w;
	struct fault f = {.text = ""};
	struct unguarded crowd;
	bool crowded = false;
	static struct probe p;
	static struct findings all;
	if (argc > 0) {
		log_error("nothing is expected after the options, not '%s'; `vigil doctor` looks at this machine",
			  argv[0]);
		return EXIT_USAGE;
	}
	int r = world_open(NULL, &w, &f);
	if (r == 0) {
		char state[256];
		struct fault none;
		if (state_dir(NULL, state, sizeof(state), &none) == 0) {
			leftover_clear(&w, state);
			crowded = unguarded_read(&w, state, &crowd);
		}
		r = probe_read(&w, &p);
		if (r)
			fault_set(&f, r, "cannot look at this machine: %s", strerror(-r));
		world_close(&w);
	}
	if (r) {
		log_error("%s", f.text);
		return r == -EACCES ? EXIT_DENIED : EXIT_PROBLEM;
	}
	doctor_machine(&p, &all);
	if (crowded)
		crowd_finding(&crowd, &all);
	findings_sort(&all);
	if (o->json) {
		struct js *j = findings_json(&all);
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
		js_free(j);
	} else {
		doctor_show(&all);
	}
	return findings_worst(&all) >= SEVERITY_WARNING ? EXIT_PROBLEM : 0;
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "vigil doctor [OPTIONS]",
	.summary = "what is unsafe on this machine, and what vigil cannot do here",
	.about = "Tries what vigil needs and looks at what endangers long jobs: kernel settings, limits, other "
		 "programs that end processes. Each finding says what suffers, on what evidence, and what to do.\n"
		 "\n"
		 "Exit status 1 when something needs attention (a warning or a problem), else 0.",
	.examples = "vigil doctor\nvigil doctor --json",
	.options = doctor_options,
	.options_size = sizeof(struct doctor_options),
	.run = doctor_run,
	.paged = true,
	.usage_status = EXIT_USAGE,
};
