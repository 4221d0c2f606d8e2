/*
 * Scripts and styles of pictures, put in by tools/embed.py at build time. Each
 * is NUL-terminated; _sha256 is the base64 hash for a content security policy.
 */
#pragma once

#include <stddef.h>

extern const char flame_js[], flame_js_sha256[];
extern const char flame_css[], flame_css_sha256[];
extern const char flame_svg_js[], flame_svg_js_sha256[];
extern const size_t flame_js_len, flame_css_len, flame_svg_js_len;
