#pragma once

#include <vector>

#include "sim/lang/syntax/names.h"
#include "sim/lang/syntax/seq.h"

/// How a module's globals are found by name: their slots are numbered in the order in which the
/// module's text names them, and an index finds the slot of a name.
namespace tidemark::lang {

/// Open addressing by name: slot + 1; 0 is free. Kept at most half full.
/// Cost: a search looks at two entries or so.
class GlobalIndex {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;

  GlobalIndex() = default;
  explicit GlobalIndex(const Seq<const std::uint32_t>& index)
      : index_(index.begin(), index.end()) {}

  /// The slot of a name, kNone where it has none. `name_at(slot)` is the name of a slot.
  template <class NameAt>
  [[nodiscard]] std::uint32_t find(Name name, const NameAt& name_at) const {
    return find(name, index_.data(), index_.size(), name_at);
  }
  template <class NameAt>
  static std::uint32_t find(Name name, const std::uint32_t* index, std::size_t size,
                            const NameAt& name_at) {
    return size == 0 ? kNone : index[place(name, index, size, name_at)] - 1;
  }
  /// Gives a name the next slot. Requires: it has none; `count` slots are given so far.
  template <class NameAt>
  void add(Name name, std::uint32_t count, const NameAt& name_at) {
    if ((std::size_t{count} + 1) * 2 > index_.size()) {
      index_.assign(index_.empty() ? 16 : index_.size() * 2, 0);
      for (std::uint32_t slot = 0; slot < count; ++slot) enter(name_at(slot), slot, name_at);
    }
    enter(name, count, name_at);
  }
  [[nodiscard]] const std::vector<std::uint32_t>& entries() const { return index_; }

 private:
  /// Where the name is, or a free place.
  template <class NameAt>
  static std::size_t place(Name name, const std::uint32_t* index, std::size_t size,
                           const NameAt& name_at) {
    const std::size_t mask = size - 1;
    std::size_t at = (static_cast<std::uint32_t>(name) * std::size_t{0x9e3779b1U}) & mask;
    while (index[at] != 0 && name_at(index[at] - 1) != name) at = (at + 1) & mask;
    return at;
  }
  template <class NameAt>
  void enter(Name name, std::uint32_t slot, const NameAt& name_at) {
    index_[place(name, index_.data(), index_.size(), name_at)] = slot + 1;
  }

  std::vector<std::uint32_t> index_;
};

/// The globals of a module that is part of the program.
struct GlobalTable {
  Seq<const Name> names;           ///< by slot
  Seq<const std::uint32_t> index;  ///< as GlobalIndex has it

  /// GlobalIndex::kNone: the module's text does not name it.
  [[nodiscard]] std::uint32_t slot(Name name) const {
    return GlobalIndex::find(name, index.data, index.size,
                             [this](std::uint32_t slot) { return names[slot]; });
  }
};

/// Numbers the globals of a module while its text is resolved.
class GlobalNames {
 public:
  std::uint32_t slot(Name name) {
    const auto name_at = [this](std::uint32_t at) { return names_[at]; };
    const std::uint32_t found = index_.find(name, name_at);
    if (found != GlobalIndex::kNone) return found;
    index_.add(name, static_cast<std::uint32_t>(names_.size()), name_at);
    names_.push_back(name);
    return static_cast<std::uint32_t>(names_.size() - 1);
  }
  /// Good until a slot is added.
  [[nodiscard]] GlobalTable table() const {
    return {{names_.data(), static_cast<std::uint32_t>(names_.size())},
            {index_.entries().data(), static_cast<std::uint32_t>(index_.entries().size())}};
  }

 private:
  std::vector<Name> names_;
  GlobalIndex index_;
};

}  // namespace tidemark::lang
