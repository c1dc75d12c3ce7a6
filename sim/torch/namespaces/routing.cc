#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/base/routing.h"
#include "sim/lang/runtime/notes.h"
#include "sim/ops/values/view.h"
#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/tensors/run_notes.h"
#include "sim/torch/tensors/tensor_object.h"

/// Routers of experts under a stated distribution (library/torch/_routing.py).
namespace tidemark::torch {

using lang::Arguments;
using lang::Interp;
using lang::Value;
using ops::Tensor;

namespace {

bool is_known(const Tensor& tensor) { return tensor->storage && tensor->storage->known(); }

/// `places`, of so many to a token, are what the tokens choose of `experts`, if nobody knows it.
bool choose(Session& session, const Routing& routing, const Tensor& places, std::int64_t chosen,
            std::int64_t experts) {
  const std::int64_t count = places.numel();
  const bool is_for_these =
      routing.shares.empty() || routing.shares.size() == static_cast<std::size_t>(experts);
  if (!is_for_these || is_known(places) || chosen < 1 || chosen >= experts || count == 0 ||
      count % chosen != 0 || count > ops::kMostOnHost || !places.is_contiguous())
    return false;
  ops::Numbers numbers;
  numbers.dtype = places.dtype();
  numbers.whole = choices_of_tokens(routing, count / chosen, chosen, experts);
  ops::note_numbers(places, std::move(numbers));
  const char* const order = routing.is_rising ? "last" : "first";
  lang::note(session.interp,
             fmt::format("routing: {}: of {} experts each token chooses {}; the {} one is favoured",
                         routing.text, experts, chosen, order));
  return true;
}

/// Counts that the ranks of a group send each other: each sends this one, which is `rank` of them,
/// what it sends itself.
bool receive_alike(const Tensor& output, const Tensor& input, std::int64_t rank,
                   std::int64_t ranks) {
  if (ranks < 1 || !is_known(input) || output.dtype() != input.dtype() ||
      output.numel() != input.numel() || rank < 0 || rank >= ranks || input.numel() % ranks != 0)
    return false;
  const std::optional<ops::Numbers> sent = ops::known_numbers(input);
  if (!sent || !sent->is_whole()) return false;
  const std::size_t part = sent->size() / static_cast<std::size_t>(ranks);
  ops::Numbers numbers = *sent;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers.whole[i] = sent->whole[part * static_cast<std::size_t>(rank) + i % part];
  ops::note_numbers(output, std::move(numbers));
  return true;
}

}  // namespace

void add_routing(Session& session, lang::Module& module) {
  Session* s = &session;
  const auto routing_of = [s]() -> const Routing* {
    const RunNotes* notes = run_notes(*s);
    return notes != nullptr && notes->routing ? &*notes->routing : nullptr;
  };
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(session.interp.intern(lang::function_name(signature)),
               session.interp.function(signature, std::move(body)));
  };
  add("has_routing()",
      [=](Interp&, Arguments&) { return Value::boolean(routing_of() != nullptr); });
  add("choose_experts(places, chosen, experts)", [=](Interp&, Arguments& a) {
    const Routing* routing = routing_of();
    const Tensor& places = a.object<TensorObject>(0, "Tensor").tensor;
    return Value::boolean(routing != nullptr &&
                          choose(*s, *routing, places, a.integer(1), a.integer(2)));
  });
  add("receive_alike(output, input, rank, ranks)", [=](Interp&, Arguments& a) {
    const Tensor& output = a.object<TensorObject>(0, "Tensor").tensor;
    const Tensor& input = a.object<TensorObject>(1, "Tensor").tensor;
    return Value::boolean(routing_of() != nullptr &&
                          receive_alike(output, input, a.integer(2), a.integer(3)));
  });
}

}  // namespace tidemark::torch
