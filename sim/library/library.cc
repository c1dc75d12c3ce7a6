#include "sim/library/library.h"

/// What library_compiler has written, as the linker has placed it.
extern "C" const tidemark::lang::LibraryImage tidemark_library_image;

namespace tidemark::library {

lang::LibraryRoots all() {
  const lang::Seq<const lang::Library>& roots = tidemark_library_image.roots;
  return {&tidemark_library_image.names, {roots.data, roots.size}};
}

lang::LibraryRoots python() {
  constexpr std::size_t kRootsWithoutTensors = 3;  // those that library_compiler writes first
  return {&tidemark_library_image.names, all().roots.first(kRootsWithoutTensors)};
}

}  // namespace tidemark::library
