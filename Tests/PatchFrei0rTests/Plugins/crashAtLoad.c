// Crashes before anybody asked it anything.
__attribute__((constructor)) static void crash(void) { *(volatile int *)16 = 1; }
