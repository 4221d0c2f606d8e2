/*
 * One page about a job, to be sent to somebody: verdict, memory over the job's life, processes, attempts, events,
 * incidents and the last lines of its output. HTML in one file: no network, no script, no address of anything else.
 *
 * Every text of the report comes from programs that may be hostile: it goes into the page escaped, without control
 * characters, with bytes that are no UTF-8 replaced. Secrets are the caller's to hide (base/mask) before.
 *
 * Source: "vigil.report/1" (docs/json.md); fields that are missing are left out of the page.
 */
#pragma once

#include <stdio.h>

#include "base/json.h"

/* report: "vigil.report/1". -ENOMEM, or -EIO after a failed write. */
int must_check page_html(const struct js *report, FILE *to);
