#include "sim/lang/imports/library_index.h"

#include <algorithm>
#include <string>

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

bool LibraryRoots::stands_in(std::string_view name) const {
  return std::any_of(roots.begin(), roots.end(), [&](const Library& root) {
    return root.stands_in && root.find(name) != nullptr;
  });
}

bool LibraryRoots::has_modules_of(std::string_view name) const {
  const std::string begin = std::string(name) + ".";
  return std::any_of(roots.begin(), roots.end(), [&](const Library& root) {
    const auto* const first =
        std::lower_bound(root.modules.begin(), root.modules.end(), begin,
                         [](const LibraryModule& each, std::string_view wanted) {
                           return view(each.name) < wanted;
                         });
    return first != root.modules.end() && view(first->name).starts_with(begin);
  });
}

}  // namespace tidemark::lang
