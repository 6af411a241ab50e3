// A library, but no plugin.
int something(void) { return 1; }
