// What the C library has and Swift's module of it leaves out.
#pragma once
#include <malloc.h>
