#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "sim/lang/values/value.h"

namespace tidemark::lang {

/// items[i], the ones behind it moved up as bytes: a value by itself costs several times as much.
inline Value taken_out(std::vector<Value>& items, std::size_t i) {
  alignas(Value) std::array<std::byte, sizeof(Value)> held;
  std::memcpy(held.data(), static_cast<const void*>(&items[i]), sizeof(Value));
  std::memmove(static_cast<void*>(items.data() + i), static_cast<const void*>(items.data() + i + 1),
               (items.size() - i - 1) * sizeof(Value));
  std::memcpy(static_cast<void*>(&items.back()), held.data(), sizeof(Value));
  Value out = std::move(items.back());
  items.pop_back();
  return out;
}

/// The ones from items[i] on move down, as bytes.
inline void put_in(std::vector<Value>& items, std::size_t i, Value value) {
  items.push_back(std::move(value));
  alignas(Value) std::array<std::byte, sizeof(Value)> held;
  std::memcpy(held.data(), static_cast<const void*>(&items.back()), sizeof(Value));
  std::memmove(static_cast<void*>(items.data() + i + 1), static_cast<const void*>(items.data() + i),
               (items.size() - i - 1) * sizeof(Value));
  std::memcpy(static_cast<void*>(&items[i]), held.data(), sizeof(Value));
}

}  // namespace tidemark::lang
