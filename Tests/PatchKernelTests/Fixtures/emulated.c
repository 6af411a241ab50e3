// Runs a pass's machine code for another processor inside an emulator: maps the file that its first argument names (the
// test maps it at the same address), waits for commands in its first word, and calls what they ask for.
// No C library: this is built by the Swift toolchain's own clang and lld.
typedef unsigned long word;

void patchbay_prepare_pass(void *workspace);
void patchbay_span_pass(void *workspace);

enum { OPENAT = 56, SCHED_YIELD = 124, GETPPID = 173, MMAP = 222, EXIT_GROUP = 94 };
enum { IDLE = 0, PREPARE = 1, SPAN = 2, STOP = 3 };

static long call(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}

void *memcpy(void *to, const void *from, word count) {
  for (word i = 0; i < count; i++) ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}
void *memset(void *to, int byte, word count) {
  for (word i = 0; i < count; i++) ((volatile char *)to)[i] = (char)byte;
  return to;
}

static word number(const char *text) {
  word value = 0;
  while (*text) value = value * 10 + (word)(*text++ - '0');
  return value;
}

__attribute__((used)) void serve(word *stack) {
  // stack: argc, then argv: program, file, address, bytes.
  const char *file = (const char *)stack[2];
  word address = number((const char *)stack[3]), bytes = number((const char *)stack[4]);
  long descriptor = call(OPENAT, -100, (long)file, 2, 0, 0, 0);
  if (descriptor < 0) call(EXIT_GROUP, 10, 0, 0, 0, 0, 0);
  // Read and write, shared, fixed.
  if (call(MMAP, (long)address, (long)bytes, 3, 0x11, descriptor, 0) != (long)address) call(EXIT_GROUP, 11, 0, 0, 0, 0, 0);
  volatile word *command = (volatile word *)address;
  void *workspace = (void *)(address + 4096);
  long parent = call(GETPPID, 0, 0, 0, 0, 0, 0);
  for (word turns = 0;; turns++) {
    switch (__atomic_load_n(command, __ATOMIC_ACQUIRE)) {
    case PREPARE: patchbay_prepare_pass(workspace); break;
    case SPAN: patchbay_span_pass(workspace); break;
    case STOP: call(EXIT_GROUP, 0, 0, 0, 0, 0, 0);
    default:
      // Nobody is left to give commands.
      if (turns % 1024 == 0 && call(GETPPID, 0, 0, 0, 0, 0, 0) != parent) call(EXIT_GROUP, 12, 0, 0, 0, 0, 0);
      call(SCHED_YIELD, 0, 0, 0, 0, 0, 0);
      continue;
    }
    __atomic_store_n(command, IDLE, __ATOMIC_RELEASE);
  }
}

__attribute__((naked, noreturn)) void _start(void) { __asm__("mov x0, sp\n b serve"); }
