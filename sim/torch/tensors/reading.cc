#include "sim/torch/tensors/reading.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "sim/lang/runtime/notes.h"
#include "sim/ops/device_check.h"
#include "sim/ops/values/generator.h"
#include "sim/ops/values/view.h"

namespace tidemark::torch {

using lang::Value;
using ops::Numbers;
using ops::Tensor;

namespace {

/// Somebody acts by numbers that a check for faults is taken to give: tells so, or makes them what
/// the user says they are.
void check(Session& session, Numbers& numbers) {
  const std::size_t count = numbers.size();
  bool any = false;
  for (std::size_t i = 0; i < count && !any; ++i) any = numbers.at(i) != 0;
  std::optional<double> given = session.decisions->given_number(session.interp);
  if (!given && session.decisions->decide_check(session.interp, any) != any) given = any ? 0 : 1;
  for (std::size_t i = 0; i < count && given; ++i) numbers.set(i, *given);
}

/// What is known of a tensor, for somebody who acts by it.
std::optional<Numbers> looked_at(Session& session, const Tensor& tensor) {
  session.guarded([&] { ops::check_is_there("item", tensor); });
  session.wait_for(tensor);
  const bool is_assumed =
      tensor->storage && tensor->storage->known() && tensor->storage->known()->is_assumed;
  std::optional<Numbers> numbers =
      is_assumed ? ops::known_numbers(tensor) : session.c.look_at(tensor);
  if (!numbers) return numbers;
  if (tensor->storage->known()->is_random && lang::is_asked_by_user(session.interp)) {
    std::string unseeded = unseeded_note(session);
    if (!unseeded.empty()) lang::note(session.interp, std::move(unseeded));
  }
  if (tensor->storage->known()->is_assumed && session.decisions != nullptr)
    check(session, *numbers);
  return numbers;
}

Value number_at(Session& session, const Numbers* numbers, ops::ScalarType dtype, std::size_t i) {
  if (numbers == nullptr) return unknown_number(session, dtype);
  if (dtype == ops::ScalarType::kBool) return Value::boolean(numbers->whole[i] != 0);
  if (ops::is_differentiable(dtype)) return Value::real(numbers->real[i]);
  return Value::integer(numbers->whole[i]);
}

Value nested(Session& session, const Tensor& tensor, const Numbers* numbers, std::int64_t dim,
             std::size_t& next) {
  if (dim == tensor.dim()) return number_at(session, numbers, tensor.dtype(), next++);
  std::vector<Value> items;
  for (std::int64_t i = 0; i < tensor.size(dim); ++i)
    items.push_back(nested(session, tensor, numbers, dim + 1, next));
  return session.interp.list(std::move(items));
}

}  // namespace

std::string unseeded_note(Session& session) {
  const ops::Generator& generator = session.c.generator(0);
  const bool is_seeded = generator.state.seed != ops::kDefaultSeed;
  if (is_seeded || generator.state.position == 0 || session.c.looks().random == 0) return {};
  return fmt::format("torch is used without a seed: its numbers are those of torch.manual_seed({})",
                     ops::kDefaultSeed);
}

Value unknown_number(Session& session, ops::ScalarType dtype) {
  using Type = lang::Unknown::Type;
  const bool is_bool = dtype == ops::ScalarType::kBool;
  const bool is_real = ops::is_differentiable(dtype);
  double given = 0;
  if (session.decisions != nullptr) {
    const std::optional<double> number = session.decisions->given_number(session.interp);
    if (!number) {
      return lang::Unknown::make(session.interp, *session.decisions,
                                 is_bool   ? Type::kBool
                                 : is_real ? Type::kReal
                                           : Type::kInt);
    }
    given = *number;
  }
  if (is_bool) return Value::boolean(given != 0);
  return is_real ? Value::real(given) : Value::integer(static_cast<std::int64_t>(given));
}

Value read_number(Session& session, const Tensor& tensor) {
  const std::optional<Numbers> numbers = looked_at(session, tensor);
  return number_at(session, numbers ? &*numbers : nullptr, tensor.dtype(), 0);
}

Value read_numbers(Session& session, const Tensor& tensor) {
  const std::optional<Numbers> numbers = looked_at(session, tensor);
  std::size_t next = 0;
  return nested(session, tensor, numbers ? &*numbers : nullptr, 0, next);
}

}  // namespace tidemark::torch
