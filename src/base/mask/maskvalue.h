/* The value behind a secret's name: where it ends, and whether it is one. Pure. */
#pragma once

#include "base/mask/edit.h"
#include "base/mask/maskname.h"

/* Hides the value at this distance: what is between quotes or brackets, else up to a blank or what ends it. */
void maskvalue_hide(struct edit *e, size_t at, enum secrecy how);
/* Hides a private key in PEM's form that begins here; false: there is none. */
bool maskvalue_key(struct edit *e);
bool maskvalue_is_number(struct span v);
bool maskvalue_is_random(struct span v); /* long, of letters and digits */
