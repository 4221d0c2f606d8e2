#include "tell/jobs/health_json.h"

struct js *health_json(const struct health *h)
{
	struct js *o = js_object(), *culprits = js_array(), *advice = js_array(), *evidence = js_array();
	js_put_text(o, "schema", "vigil.health/1");
	js_put_text(o, "level", health_level_name(h->level));
	js_put_text(o, "sentence", h->sentence);
	if (h->stopped)
		js_put_bool(o, "stopped", true);
	if (h->nobody_waits)
		js_put_bool(o, "nobody_waits", true);
	js_put_text_if(o, "why", h->why);
	for (size_t i = 0; i < h->n_culprits; i++)
		js_add_i64(culprits, h->culprit[i]);
	for (size_t i = 0; i < h->n_advice; i++)
		js_add_text(advice, h->advice[i]);
	for (size_t i = 0; i < h->n_evidence; i++)
		js_add_text(evidence, h->evidence[i]);
	js_put(o, "culprit_ranks", culprits);
	js_put(o, "advice", advice);
	js_put(o, "evidence", evidence);
	js_put_text_if(o, "incident", h->incident);
	if (h->since_unix_ms > 0)
		js_put_i64(o, "since_unix_ms", h->since_unix_ms);
	if (h->next_unix_ms > 0)
		js_put_i64(o, "next_unix_ms", h->next_unix_ms);
	return o;
}
