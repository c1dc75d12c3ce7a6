#include "sim/library/library.h"

#include <algorithm>

#include "sim/library/known_names.h"

/// What library_compiler has written, as the linker has placed it.
extern "C" const tidemark::library::Image tidemark_library_image;

namespace tidemark::library {

lang::LibraryRoots all() {
  const lang::LibraryImage& image = tidemark_library_image.library;
  return {&image.names, {image.roots.data, image.roots.size}};
}

lang::LibraryRoots python() {
  constexpr std::size_t kRootsWithoutTensors = 3;  // those that library_compiler writes first
  const lang::LibraryRoots roots = all();
  return {roots.names, roots.roots.first(kRootsWithoutTensors)};
}

lang::Seq<const KnownNames> known_names() { return tidemark_library_image.known; }

const KnownNames* known_names(std::string_view owner) {
  const lang::Seq<const KnownNames> known = known_names();
  const auto* const at = std::lower_bound(
      known.begin(), known.end(), owner,
      [](const KnownNames& each, std::string_view name) { return view(each.owner) < name; });
  return at == known.end() || view(at->owner) != owner ? nullptr : at;
}

const KnownName* KnownNames::find(lang::Name name, std::uint8_t release) const {
  const auto* at =
      std::lower_bound(names.begin(), names.end(), name,
                       [](const KnownName& each, lang::Name wanted) { return each.name < wanted; });
  for (; at != names.end() && at->name == name; ++at) {
    if (at->from <= release && release <= at->to) return at;
  }
  return nullptr;
}

}  // namespace tidemark::library
