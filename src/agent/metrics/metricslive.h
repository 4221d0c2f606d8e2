/* The part of the facts of metrics that is read from the machine as it is now. */
#pragma once

#include "agent/metrics/metricsgather.h"

/* Memory of the node, and of the fullest limited control group that this process is in. */
void metricslive_node(const struct world *w, struct metrics_facts *ret);
/* What vigil's own processes cost each job. */
void metricslive_self(const struct world *w, struct metrics_facts *ret);
/* Each process of a job. Takes at most 4 s. */
int must_check metricslive_processes(const struct world *w, struct metrics_facts *ret, struct fault *f);
/* The devices. Takes at most 2 s. */
int must_check metricslive_gpus(const struct world *w, struct metrics_facts *ret, struct fault *f);
