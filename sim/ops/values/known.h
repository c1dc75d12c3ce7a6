#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/base/intrusive.h"
#include "sim/base/state_image.h"
#include "sim/ops/scalar_type.h"

/// What is known of the numbers in a tensor. Most are not: inputs, weights, losses. Those that
/// follow from shapes, from numbers of the program and from the host's random generators are, and
/// they are worked out when somebody asks for them, not before.
namespace tidemark::ops {

/// More numbers than these are not kept, of one tensor on the host and on a device.
inline constexpr std::int64_t kMostOnHost = std::int64_t{1} << 22U;
inline constexpr std::int64_t kMostOnDevice = std::int64_t{1} << 16U;

/// Numbers of one type, as a tensor of it holds them.
struct Numbers {
  ScalarType dtype = ScalarType::kFloat32;
  std::vector<std::int64_t> whole;  ///< of integers and booleans
  std::vector<double> real;         ///< of anything else

  [[nodiscard]] bool is_whole() const;
  [[nodiscard]] std::size_t size() const { return is_whole() ? whole.size() : real.size(); }
  [[nodiscard]] double at(std::size_t i) const {
    return is_whole() ? static_cast<double>(whole[i]) : real[i];
  }
  void resize(std::size_t count) { is_whole() ? whole.resize(count) : real.resize(count); }
  /// Stores a number as the type keeps it. Integers beyond 2^53: set_whole.
  void set(std::size_t i, double value);
  void set_whole(std::size_t i, std::int64_t value);
};

/// Whether numbers of the type are kept at all: not complex ones.
bool keeps_numbers(ScalarType dtype);
/// The nearest number that the type has. Requires: not an integer type.
double rounded_to(ScalarType dtype, double value);

/// How numbers come about. It holds no tensor, so that it keeps no memory alive.
class Recipe {
 public:
  Recipe() = default;
  Recipe(const Recipe&) = delete;
  Recipe& operator=(const Recipe&) = delete;
  virtual ~Recipe() = default;
  /// Fills `out`, which has its type and size. False: they turn out not to be known.
  virtual bool make(Numbers& out) const = 0;
  /// Writes what decides them.
  virtual void write(StateImage& image) const = 0;
};

/// The numbers of a whole storage, in the order of memory. They never change: who writes into the
/// storage gives it others.
class Known final : public RefCounted<Known> {
 public:
  explicit Known(Numbers numbers);
  Known(ScalarType dtype, std::int64_t count, std::unique_ptr<Recipe> recipe);
  ~Known();

  [[nodiscard]] ScalarType dtype() const { return numbers_.dtype; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Null: they turned out not to be known. Cost: what the recipe takes, once.
  const Numbers* numbers();
  /// Writes what decides the numbers.
  void write(StateImage& image) const;

  bool is_random = false;   ///< a generator's draws decide them
  bool is_assumed = false;  ///< they rest on something that was taken for granted
  std::uint32_t depth = 0;  ///< of recipes that wait for each other

 private:
  Numbers numbers_;
  std::int64_t count_;
  std::unique_ptr<Recipe> recipe_;  ///< null: numbers_ holds them, or they are not known
  bool failed_ = false;
};

}  // namespace tidemark::ops
