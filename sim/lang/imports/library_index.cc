#include "sim/lang/imports/library_index.h"

#include <algorithm>

namespace tidemark::lang {

const LibraryName* LibraryModule::find(Name wanted) const {
  const std::uint32_t slot = globals.slot(wanted);  // kNone is beyond all
  return slot < names.size ? &names[slot] : nullptr;
}

const LibraryModule* Library::find(std::string_view wanted) const {
  const auto* const found = std::lower_bound(
      modules.begin(), modules.end(), wanted,
      [](const LibraryModule& each, std::string_view name) { return view(each.name) < name; });
  return found == modules.end() || view(found->name) != wanted ? nullptr : found;
}

const LibraryModule* LibraryRoots::find(std::string_view wanted) const {
  for (const Library& root : roots) {
    if (const LibraryModule* found = root.find(wanted)) return found;
  }
  return nullptr;
}

}  // namespace tidemark::lang
