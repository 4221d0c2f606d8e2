/*
 * Text that claims to be UTF-8. What a program puts into its names is not
 * ours: before it is shown, bytes that are no character are replaced.
 */
#pragma once

#include "base/base.h"

/*
 * Bytes of the character at p, at most len; 0 if there is no valid one:
 * overlong forms, surrogates, code points above U+10FFFF and the two that no
 * text may hold (U+FFFE, U+FFFF) are none. Control characters are characters.
 */
size_t utf8_char(const char *p, size_t len, uint32_t *ret_code);
/* Control characters, and those that turn the reading direction: they make text look like other text. */
bool utf8_hidden(uint32_t code);
