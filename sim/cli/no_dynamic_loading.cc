/// SQLite can load extensions, which a statically linked program cannot do. The linker puts this in
/// dlopen's place (--wrap), and has nothing to warn of.
extern "C" void* no_dynamic_loading(const char* file, int mode) __asm__("__wrap_dlopen");
extern "C" void* no_dynamic_loading(const char* /*file*/, int /*mode*/) { return nullptr; }
