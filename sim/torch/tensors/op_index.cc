#include "sim/torch/tensors/op_index.h"

#include "sim/base/check.h"
#include "sim/base/hash.h"

namespace tidemark::torch {
namespace {

constexpr std::size_t kSlots = 8192;

/// The first word of `words`, which keeps the others. Words are apart by one blank.
std::string_view take_word(std::string_view& words) {
  const std::size_t end = words.find(' ');
  const std::string_view word = words.substr(0, end);
  words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  return word;
}

}  // namespace

const OpIndex& OpIndex::instance() {
  static const OpIndex index;
  return index;
}

OpIndex::OpIndex() : slots_(kSlots, 0) {
  entries_.reserve(kSlots / 4);
  links_.reserve(kSlots / 4);
  for (const auto& family : ops::op_families()) {
    for (const ops::OpDef& def : family) {
      const std::string_view name = def.signature.substr(0, def.signature.find('('));
      for (std::string_view places = def.where; !places.empty();) add(take_word(places), name, def);
    }
  }
  TIDEMARK_CHECK(entries_.size() * 2 < kSlots && links_.size() < kEnd,
                 "the op table has outgrown its index");
}

std::size_t OpIndex::slot_of(std::string_view where, std::string_view name) const {
  std::size_t slot = (hash_text(name) + where.size() * 977) & (kSlots - 1);
  while (slots_[slot] != 0) {
    const Entry& entry = entries_[slots_[slot] - 1U];
    if (entry.name == name && entry.where == where) break;
    slot = (slot + 1) & (kSlots - 1);
  }
  return slot;
}

void OpIndex::add(std::string_view where, std::string_view name, const ops::OpDef& def) {
  const auto link = static_cast<std::uint16_t>(links_.size());
  links_.push_back({&def, kEnd});
  const std::size_t slot = slot_of(where, name);
  if (slots_[slot] == 0) {
    entries_.push_back({name, where, link, link});
    slots_[slot] = static_cast<std::uint16_t>(entries_.size());
    return;
  }
  Entry& entry = entries_[slots_[slot] - 1U];
  links_[entry.last].next = link;
  entry.last = link;
}

std::size_t OpIndex::find(std::string_view where, std::string_view name) const {
  const std::size_t slot = slot_of(where, name);
  return slots_[slot] == 0 ? kNone : slots_[slot] - 1U;
}

bool OpIndex::is_in(std::size_t entry, Version release) const {
  for (std::uint16_t i = entries_[entry].first; i != kEnd; i = links_[i].next)
    if (links_[i].def->releases.contain(release)) return true;
  return false;
}

std::vector<const ops::OpDef*> OpIndex::overloads(std::size_t entry, Version release) const {
  std::vector<const ops::OpDef*> defs;
  for (std::uint16_t i = entries_[entry].first; i != kEnd; i = links_[i].next)
    if (links_[i].def->releases.contain(release)) defs.push_back(links_[i].def);
  return defs;
}

std::vector<const ops::OpDef*> OpIndex::later(std::size_t entry, Version release) const {
  std::vector<const ops::OpDef*> defs;
  for (std::uint16_t i = entries_[entry].first; i != kEnd; i = links_[i].next)
    if (release < links_[i].def->releases.from) defs.push_back(links_[i].def);
  std::ranges::stable_sort(defs, {}, [](const auto* def) { return def->releases.from; });
  return defs;
}

}  // namespace tidemark::torch
