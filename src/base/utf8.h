/*
 * Checks of UTF-8 text from other programs: bytes that form no character are
 * replaced before the text is shown.
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
/*
 * Puts '?' in place of each such character and of each byte that is none, but for the ends of lines and tabs. Returns
 * the new length, which is never larger; dst may be text.
 */
size_t utf8_plain(const char *text, size_t len, char *dst);
