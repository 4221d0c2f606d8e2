/*
 * Secrets in texts that others may come to see: passwords, tokens and keys in command lines, environments, addresses
 * and values of variables become "***". Reports, notices and what is stored pass through here; a job's own output does
 * not. It goes by names and forms, so it cannot find everything.
 *
 * Pure, in place, and never longer than before: a secret of one letter becomes one star. Without allocation.
 */
#pragma once

#include "base/base.h"
#include "base/text.h"

/* True if what is called so is a secret: "PASSWORD", "api_key", "hfToken"; not "max_tokens", "TOKEN_FILE". */
bool mask_is_secret(struct span name);
/*
 * Arguments of a program, each ended by a NUL as in /proc/PID/cmdline (the last may lack it): the value of an option
 * with such a name, in the same argument or the next, and all that mask_text finds in each. Returns the new length.
 */
size_t mask_args(char *args, size_t len);
/*
 * A line of text: user:password@ in an address, NAME=value and "name": value with such names, "Bearer x", and tokens of
 * forms that well-known services use.
 */
void mask_text(char *text);
/* The name of a process or a thread, as the kernel keeps it: "pw=x" is one that a program may have given itself. */
void mask_name(char *name);
/*
 * Whether a private key in PEM's form, of several lines, is open behind this text; open: it was before. Its lines say
 * nothing by themselves, so whoever masks lines one by one hides those in between.
 */
bool mask_key_begun(struct span text, bool open);
/* The value of a variable, as Python shows it: all of a text or bytes where its name is a secret's, else mask_text. */
void mask_value(const char *name, char *value);
