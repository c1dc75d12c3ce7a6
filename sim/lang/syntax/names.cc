#include "sim/lang/syntax/names.h"

#include <array>
#include <bit>

#include "sim/base/name_hash.h"

namespace tidemark::lang {

namespace {

// In the order of name::Known.
constexpr std::array<std::string_view, name::kKnownCount> kKnownTexts = {
    "__init__",
    "__call__",
    "__new__",
    "__len__",
    "__getitem__",
    "__setitem__",
    "__delitem__",
    "__contains__",
    "__iter__",
    "__next__",
    "__enter__",
    "__exit__",
    "__repr__",
    "__str__",
    "__format__",
    "__bool__",
    "__hash__",
    "__int__",
    "__float__",
    "__index__",
    "__getattr__",
    "__setattr__",
    "__delattr__",
    "__reversed__",
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__add__",
    "__sub__",
    "__mul__",
    "__matmul__",
    "__truediv__",
    "__floordiv__",
    "__mod__",
    "__pow__",
    "__lshift__",
    "__rshift__",
    "__and__",
    "__or__",
    "__xor__",
    "__radd__",
    "__rsub__",
    "__rmul__",
    "__rmatmul__",
    "__rtruediv__",
    "__rfloordiv__",
    "__rmod__",
    "__rpow__",
    "__rlshift__",
    "__rrshift__",
    "__rand__",
    "__ror__",
    "__rxor__",
    "__iadd__",
    "__isub__",
    "__imul__",
    "__imatmul__",
    "__itruediv__",
    "__ifloordiv__",
    "__imod__",
    "__ipow__",
    "__ilshift__",
    "__irshift__",
    "__iand__",
    "__ior__",
    "__ixor__",
    "__neg__",
    "__pos__",
    "__invert__",
    "__abs__",
    "__round__",
    "__divmod__",
    "__name__",
    "__qualname__",
    "__module__",
    "__doc__",
    "__class__",
    "__dict__",
    "__bases__",
    "__mro__",
    "__file__",
    "__annotations__",
    "__wrapped__",
    "__post_init__",
    "__del__",
    "__all__",
    "__missing__",
    "__slots__",
    "__defaults__",
    "__self__",
    "__func__",
    "__get__",
    "__set__",
    "__deepcopy__",
    "__copy__",
    "__init_subclass__",
    "__cause__",
    "__context__",
    "__traceback__",
    "args",
    "kwargs",
    "self",
    "cls",
    "super",
    "forward",
    "key",
    "default",
    "reverse",
    "setter",
    "getter",
    "deleter",
    "fget",
    "value",
    "start",
    "fn",
};
static_assert(kKnownTexts.back() == "fn");

/// Puts an entry where a search for its hash ends. Requires: a slot is free.
template <class Slots>
constexpr void put(Slots& slots, std::uint64_t hash, std::uint32_t entry) {
  const std::size_t mask = slots.size() - 1;
  std::size_t slot = hash & mask;
  while (slots[slot] != 0) slot = (slot + 1) & mask;
  slots[slot] = entry;
}

constexpr auto kKnownEntries = [] {
  std::array<NameTable::Entry, name::kKnownCount> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::string_view text = kKnownTexts[i];
    out[i] = {{text.data(), static_cast<std::uint32_t>(text.size())}, hash_name(text)};
  }
  return out;
}();
constexpr auto kKnownSlots = [] {
  std::array<std::uint32_t, std::bit_ceil(name::kKnownCount * std::size_t{2} + 1)> out{};
  for (std::uint32_t i = 0; i < kKnownEntries.size(); ++i) put(out, kKnownEntries[i].hash, i + 1);
  return out;
}();
constexpr NameTable kKnownTable{{kKnownEntries.data(), name::kKnownCount},
                                {kKnownSlots.data(), std::size(kKnownSlots)}};

}  // namespace

Names::Names(const NameTable* given)
    : given_(given == nullptr ? kKnownTable : *given), slots_(256, 0) {}

// Zero: the table does not have it.
std::uint32_t Names::find_given(std::string_view text, std::uint64_t hash) const {
  if (given_.slots.empty()) return 0;
  const std::size_t mask = given_.slots.size - 1;
  for (std::size_t slot = hash & mask; given_.slots[slot] != 0; slot = (slot + 1) & mask) {
    const NameTable::Entry& entry = given_.entries[given_.slots[slot] - 1];
    if (entry.hash == hash && view(entry.text) == text) return given_.slots[slot];
  }
  return 0;
}

std::size_t Names::slot_of(std::string_view text, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const std::uint32_t index = slots_[slot] - 1;
    if (hashes_[index] == hash && texts_[index] == text) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

Name Names::intern(std::string_view text) {
  const std::uint64_t hash = hash_name(text);
  if (const std::uint32_t given = find_given(text, hash); given != 0)
    return static_cast<Name>(given - 1);
  std::size_t slot = slot_of(text, hash);
  if (slots_[slot] == 0) {
    if ((texts_.size() + 1) * 2 > slots_.size()) {
      grow();
      slot = slot_of(text, hash);
    }
    storage_.emplace_back(text);
    texts_.emplace_back(storage_.back());
    hashes_.push_back(hash);
    slots_[slot] = static_cast<std::uint32_t>(texts_.size());
  }
  return static_cast<Name>(given_.entries.size + slots_[slot] - 1);
}

bool Names::find(std::string_view text, Name* out) const {
  const std::uint64_t hash = hash_name(text);
  if (const std::uint32_t given = find_given(text, hash); given != 0) {
    *out = static_cast<Name>(given - 1);
    return true;
  }
  const std::size_t slot = slot_of(text, hash);
  if (slots_[slot] == 0) return false;
  *out = static_cast<Name>(given_.entries.size + slots_[slot] - 1);
  return true;
}

void Names::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (std::size_t i = 0; i < hashes_.size(); ++i)
    put(slots_, hashes_[i], static_cast<std::uint32_t>(i + 1));
}

std::vector<std::uint32_t> Names::slots() const {
  std::vector<std::uint32_t> out(std::bit_ceil(size() * 2 + 1), 0);
  for (std::uint32_t id = 0; id < size(); ++id) put(out, hash(static_cast<Name>(id)), id + 1);
  return out;
}

}  // namespace tidemark::lang
