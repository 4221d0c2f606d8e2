/*
 * Profiles that the page asks for: each is a child that records into "<state>/jobs/<job>/profiles/<id>.json", beside
 * "<id>.about", which says what it is. They are listed from there: they are kept with the job, go with it, and are
 * there after the server has ended.
 */
#pragma once

#include "agent/web/web.h"

void web_profiles(const struct webcall *c);
void web_profile_start(const struct webcall *c);
void web_profile(const struct webcall *c);
void web_profile_data(const struct webcall *c);
void web_profile_drop(const struct webcall *c);
void webprofiles_free(struct web *w);
