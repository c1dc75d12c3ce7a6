// The C library's own variable is out of reach of objects that are made for a program. This one
// takes its place within the module, and says what always holds: there may be threads, so shared
// pointers count atomically.
extern "C" {
// NOLINTNEXTLINE(bugprone-reserved-identifier)
char __libc_single_threaded = 0;
}
