/* Node, address and user for reports, and ids for new jobs. Texts are cut at cap bytes. */
#pragma once

#include "base/base.h"

void host_name(char *dst, size_t cap);
/* IPv4 address of the interface with the default route; "127.0.0.1" without one. */
void host_ip(char *dst, size_t cap);
/* $USER, else the account's name, else the uid as a number. */
void host_user(char *dst, size_t cap);
/* The name of this account, or the number. */
void host_account(uid_t uid, char *dst, size_t cap);
/* The same; of our own $USER, if it is set. */
void host_user_of(uid_t uid, char *dst, size_t cap);
/*
 * "<name>-<4 random letters>". The name is cut at 40 bytes, and characters other than A-Z, a-z, 0-9 and _ become '-';
 * an empty name becomes "job".
 */
void host_job_id(const char *name, char *dst, size_t cap);
