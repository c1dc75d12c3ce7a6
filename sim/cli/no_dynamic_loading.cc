/// SQLite can load extensions, which a statically linked program cannot do. The linker puts this in
/// dlopen's place (--wrap), and has nothing to warn of.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the linker's name
extern "C" void* __wrap_dlopen(const char* /*file*/, int /*mode*/) { return nullptr; }
