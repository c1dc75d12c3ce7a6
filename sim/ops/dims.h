#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace tidemark::ops {

/// Sizes or strides of a tensor: up to kMaxDims numbers, stored in place. Errors: ShapeError beyond
/// that.
class Dims {
 public:
  static constexpr std::size_t kMaxDims = 8;

  Dims() = default;
  Dims(std::initializer_list<std::int64_t> values) {
    for (const std::int64_t v : values) push_back(v);
  }
  explicit Dims(std::span<const std::int64_t> values) {
    for (const std::int64_t v : values) push_back(v);
  }
  static Dims filled(std::size_t count, std::int64_t value) {
    Dims dims;
    for (std::size_t i = 0; i < count; ++i) dims.push_back(value);
    return dims;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  std::int64_t& operator[](std::size_t i) { return values_[i]; }
  const std::int64_t& operator[](std::size_t i) const { return values_[i]; }
  std::int64_t& back() { return values_[size_ - 1U]; }
  [[nodiscard]] const std::int64_t& back() const { return values_[size_ - 1U]; }
  std::int64_t* begin() { return values_.data(); }
  std::int64_t* end() { return values_.data() + size_; }
  [[nodiscard]] const std::int64_t* begin() const { return values_.data(); }
  [[nodiscard]] const std::int64_t* end() const { return values_.data() + size_; }
  void push_back(std::int64_t value);
  void insert(std::size_t at, std::int64_t value);
  void erase(std::size_t at);
  void pop_back() { --size_; }
  void resize(std::size_t count);

  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i) {
      if (a.values_[i] != b.values_[i]) return false;
    }
    return true;
  }

 private:
  std::array<std::int64_t, kMaxDims> values_{};
  std::uint8_t size_ = 0;
};

/// "[64, 3, 32, 32]", as PyTorch prints shapes in its messages.
std::string to_string(const Dims& dims);

}  // namespace tidemark::ops
