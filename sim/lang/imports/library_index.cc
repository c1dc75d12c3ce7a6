#include "sim/lang/imports/library_index.h"

#include <algorithm>

namespace tidemark::lang {

namespace {

template <class Row>
const Row* find_by_name(std::span<const Row> rows, std::string_view name) {
  const auto found =
      std::lower_bound(rows.begin(), rows.end(), name,
                       [](const Row& row, std::string_view wanted) { return row.name < wanted; });
  return found == rows.end() || found->name != name ? nullptr : &*found;
}

}  // namespace

const LibraryName* LibraryModule::find(std::string_view wanted) const {
  return find_by_name(names, wanted);
}

const LibraryModule* Library::find(std::string_view wanted) const {
  return find_by_name(modules, wanted);
}

}  // namespace tidemark::lang
