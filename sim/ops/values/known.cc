#include "sim/ops/values/known.h"

#include <bit>
#include <cmath>
#include <utility>

#include "sim/ops/values/patch_recipe.h"

namespace tidemark::ops {

namespace {

bool is_integer(ScalarType dtype) { return !is_floating(dtype) && !is_complex(dtype); }

/// To `bits` of mantissa, ties to even, not smaller steps than 2^least.
double with_mantissa(double value, int bits, int least) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int step = std::max(exponent - bits, least);
  return std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
}

/// An integer of so many bits, as a cast cuts it off.
std::int64_t cut_to(ScalarType dtype, std::int64_t value) {
  if (dtype == ScalarType::kBool) return value != 0 ? 1 : 0;
  if (dtype == ScalarType::kUInt8) return static_cast<std::uint8_t>(value);
  const auto bits = static_cast<unsigned>(8 * element_bytes(dtype));
  if (bits >= 64) return value;
  const auto raised = static_cast<std::uint64_t>(value) << (64 - bits);
  return static_cast<std::int64_t>(raised) >> (64 - bits);
}

}  // namespace

bool keeps_numbers(ScalarType dtype) { return !is_complex(dtype); }

double rounded_to(ScalarType dtype, double value) {
  switch (dtype) {
    case ScalarType::kFloat64:
      return value;
    case ScalarType::kFloat32:
      return static_cast<double>(static_cast<float>(value));
    case ScalarType::kBFloat16:
      return with_mantissa(static_cast<double>(static_cast<float>(value)), 8, -133);
    case ScalarType::kFloat16: {
      const double near = with_mantissa(value, 11, -24);
      return std::abs(near) > 65504 ? std::copysign(INFINITY, near) : near;
    }
    default:
      return value;
  }
}

bool Numbers::is_whole() const { return is_integer(dtype); }

void Numbers::set(std::size_t i, double value) {
  if (!is_whole()) {
    real[i] = rounded_to(dtype, value);
  } else if (dtype == ScalarType::kBool) {
    whole[i] = value != 0 ? 1 : 0;
  } else {
    constexpr double kTooLarge = 9.2233720368547758e18;
    const bool fits = value > -kTooLarge && value < kTooLarge;
    whole[i] = fits ? cut_to(dtype, static_cast<std::int64_t>(value)) : INT64_MIN;
  }
}

void Numbers::set_whole(std::size_t i, std::int64_t value) {
  if (is_whole()) {
    whole[i] = cut_to(dtype, value);
  } else {
    real[i] = rounded_to(dtype, static_cast<double>(value));
  }
}

Known::Known(Numbers numbers)
    : numbers_(std::move(numbers)), count_(static_cast<std::int64_t>(numbers_.size())) {}

Known::Known(ScalarType dtype, std::int64_t count, std::unique_ptr<Recipe> recipe)
    : count_(count), recipe_(std::move(recipe)) {
  numbers_.dtype = dtype;
}

Known::~Known() = default;

const Numbers* Known::numbers() {
  if (recipe_) {
    const auto* patch = dynamic_cast<const PatchRecipe*>(recipe_.get());
    if (patch != nullptr && patch->before()->use_count() == 1) {
      // An array that a loop fills: one copy of its numbers goes from write to write.
      failed_ = patch->before()->numbers() == nullptr;
      if (!failed_) {
        numbers_ = std::move(patch->before()->numbers_);
        failed_ = !patch->write_over(numbers_);
      }
    } else {
      numbers_.resize(static_cast<std::size_t>(count_));
      failed_ = !recipe_->make(numbers_);
    }
    recipe_.reset();
    depth = 0;
  }
  return failed_ ? nullptr : &numbers_;
}

void Known::write(StateImage& image) const {
  image.put(static_cast<std::uint64_t>(dtype()));
  image.put_signed(count_);
  image.put((is_random ? 1U : 0U) | (is_assumed ? 2U : 0U) | (failed_ ? 4U : 0U));
  if (failed_) return;
  if (recipe_) {
    recipe_->write(image);
    return;
  }
  for (const std::int64_t number : numbers_.whole) image.put_signed(number);
  for (const double number : numbers_.real) image.put_real(number);
}

}  // namespace tidemark::ops
