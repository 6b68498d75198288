// What Swift cannot import from libwebsockets, libev and libc: computed macros, variadic
// functions and calls that need _GNU_SOURCE.
#pragma once
