#include "sim/torch/tensors/op_index.h"

#include <algorithm>

#include "sim/ops/op_family.h"

namespace tidemark::torch {
namespace {

std::span<const OpIndexLink> links_of(std::size_t entry) {
  const OpIndexTable& table = op_index_table();
  return table.links.subspan(table.entries[entry].first_link, table.entries[entry].link_count);
}

const ops::OpDef* def_of(const OpIndexLink& link) { return &ops::op_family(link.family)[link.def]; }

}  // namespace

std::size_t OpIndex::find(std::string_view where, std::string_view name) {
  const OpIndexTable& table = op_index_table();
  const std::size_t slot = op_index_slot(table.entries, table.slots, where, name);
  return table.slots[slot] == 0 ? kNone : table.slots[slot] - 1U;
}

bool OpIndex::is_in(std::size_t entry, Version release) {
  return std::ranges::any_of(
      links_of(entry), [&](const OpIndexLink& link) { return link.releases.contain(release); });
}

std::vector<const ops::OpDef*> OpIndex::overloads(std::size_t entry, Version release) {
  std::vector<const ops::OpDef*> defs;
  for (const OpIndexLink& link : links_of(entry))
    if (link.releases.contain(release)) defs.push_back(def_of(link));
  return defs;
}

std::vector<const ops::OpDef*> OpIndex::later(std::size_t entry, Version release) {
  std::vector<const ops::OpDef*> defs;
  for (const OpIndexLink& link : links_of(entry))
    if (release < link.releases.from) defs.push_back(def_of(link));
  std::ranges::stable_sort(defs, {}, [](const auto* def) { return def->releases.from; });
  return defs;
}

}  // namespace tidemark::torch
