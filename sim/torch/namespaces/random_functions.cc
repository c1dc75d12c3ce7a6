#include <cmath>

#include "sim/lang/runtime/rank_value.h"
#include "sim/ops/copy_slices.h"
#include "sim/ops/values/generator.h"
#include "sim/ops/values/view.h"
#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/tensors/op_binding.h"
#include "sim/torch/tensors/reading.h"
#include "sim/torch/tensors/tensor_object.h"

/// Random numbers of the host, for the library's own code: generators by number, and what fills a
/// tensor in place.
namespace tidemark::torch {

using lang::Arguments;
using lang::Interp;
using lang::Value;
using ops::DrawSpec;
using ops::Generator;
using ops::Tensor;

namespace {

const Tensor& tensor_at(const Arguments& a, std::size_t i) {
  return a.object<TensorObject>(i, "Tensor").tensor;
}

/// What is written over is not known any more; who saved it notices.
void overwrite(const Tensor& tensor) {
  if (tensor->storage) tensor->storage->set_known(nullptr);
  ops::count_write(tensor);
}

/// Draws for a tensor of the host; on a device and elsewhere nothing is known.
void fill(Generator& generator, const Tensor& tensor, DrawSpec spec, bool is_kept) {
  overwrite(tensor);
  if (!(tensor.device() == ops::kHost) || ops::is_complex(tensor.dtype())) return;
  spec.is_dense = tensor.is_contiguous();
  if (!is_kept || !generator.is_known) {
    generator.advance(spec, tensor.dtype(), tensor.numel());
    return;
  }
  ops::Noted noted;
  noted.recipe = generator.draw(spec, tensor.dtype(), tensor.numel());
  noted.is_random = true;
  ops::note_in_memory_order(tensor, std::move(noted), nullptr);
}

/// Requires nothing: model code can hold any number.
Generator& generator_of(Session& session, std::int64_t number) {
  if (number < 0 || static_cast<std::size_t>(number) >= session.generators)
    session.interp.value_error("no such generator: " + std::to_string(number));
  return session.c.generator(static_cast<std::size_t>(number));
}

Generator& generator_at(Session& session, const Arguments& a, std::size_t i) {
  if (!a.has(i) || a[i].is_none()) return session.c.generator(0);
  const Value number = session.interp.find_attr(a[i], session.interp.intern("_number"));
  return generator_of(session, number.is_int() ? number.as_int() : 0);
}

/// Of a tensor that is spread over ranks its own method draws. Returns whether it did.
bool draws_over_ranks(Session& session, const Value& tensor) {
  const auto* object = tensor.as<TensorObject>();
  if (object == nullptr || !object->tensor->spread) return false;
  session.interp.call_method(tensor, session.interp.intern("normal_"));
  return true;
}

/// What nn.Linear and the convolutions begin with. Source: their reset_parameters.
void reset_weight_and_bias(Session& session, Arguments& a) {
  if (draws_over_ranks(session, a[0])) {
    if (!a[1].is_none()) draws_over_ranks(session, a[1]);
    return;
  }
  const Tensor& weight = tensor_at(a, 0);
  Generator& generator = session.c.generator(0);
  const double fan_in = weight.size(0) == 0 ? 0
                                            : static_cast<double>(weight.numel()) /
                                                  static_cast<double>(weight.size(0));
  if (weight.numel() > 0) {
    const double gain = std::sqrt(2.0 / (1 + std::sqrt(5.0) * std::sqrt(5.0)));
    const double bound = std::sqrt(3.0) * (gain / std::sqrt(fan_in));
    fill(generator, weight, {ops::Draw::kUniform, -bound, bound}, true);
  }
  if (a[1].is_none() || fan_in == 0) return;
  const double bound = 1 / std::sqrt(fan_in);
  fill(generator, tensor_at(a, 1), {ops::Draw::kUniform, -bound, bound}, true);
}

Value state_of(Interp& in, const Generator& generator) {
  const ops::GeneratorState& state = generator.state;
  const auto number = [](std::uint64_t n) { return Value::integer(static_cast<std::int64_t>(n)); };
  return in.tuple({number(state.seed), number(state.position),
                   state.kept_normal ? number(*state.kept_normal) : Value::none(),
                   Value::boolean(generator.is_known)});
}

void set_state(Interp& in, Generator& generator, const Value& state) {
  if (state.is_none()) {
    // The bytes went through something that keeps no numbers.
    generator.is_known = false;
    return;
  }
  const std::vector<Value> parts = in.unpack(state);
  const bool fits = parts.size() == 4 && parts[0].is_int() && parts[1].is_int() &&
                    (parts[2].is_none() || parts[2].is_int()) && parts[3].is_bool();
  if (!fits) in.type_error("expected what generator_state() gave");
  const auto number = [&](std::size_t i) { return static_cast<std::uint64_t>(parts[i].as_int()); };
  generator.state = {number(0), number(1), std::nullopt};
  if (!parts[2].is_none()) generator.state.kept_normal = number(2);
  generator.is_known = parts[3].as_bool();
}

}  // namespace

void add_random_functions(Session& session, lang::Module& module) {
  Session* s = &session;
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(session.interp.intern(lang::function_name(signature)),
               session.interp.function(signature, std::move(body)));
  };
  add("make_generator()", [s](Interp&, Arguments&) {
    ++s->generators;
    return Value::integer(static_cast<std::int64_t>(s->c.add_generator()));
  });
  add("seed_generator(number, seed)", [s](Interp&, Arguments& a) {
    Generator& generator = generator_of(*s, a.integer(0));
    const bool is_of_rank = lang::is_of_rank(a[1]);
    const std::int64_t seed = is_of_rank ? lang::shown(a[1]).as_int() : a.integer(1);
    generator.set_seed(static_cast<std::uint64_t>(seed));
    if (is_of_rank) {
      generator.is_known = false;
      lang::alike_of(s->interp)->rest_on(a[1]);
    }
    return Value::none();
  });
  add("generator_state(number)",
      [s](Interp& in, Arguments& a) { return state_of(in, generator_of(*s, a.integer(0))); });
  add("set_generator_state(number, state)", [s](Interp& in, Arguments& a) {
    set_state(in, generator_of(*s, a.integer(0)), a[1]);
    return Value::none();
  });
  // "uniform" and "normal" take two parameters; "bent" ones are drawn so and changed afterwards.
  add("fill_random(tensor, kind, a, b, generator=None)", [s](Interp&, Arguments& a) {
    if (draws_over_ranks(*s, a[0])) return a[0];
    const std::string_view kind = a.text(1);
    const bool is_normal = kind.ends_with("normal");
    fill(generator_at(*s, a, 4), tensor_at(a, 0),
         {is_normal ? ops::Draw::kNormal : ops::Draw::kUniform, a.real(2), a.real(3)},
         !kind.starts_with("bent"));
    return a[0];
  });
  add("fill_constant(tensor, value)", [](Interp&, Arguments& a) {
    const Tensor& tensor = tensor_at(a, 0);
    overwrite(tensor);
    ops::note_fill(tensor, a.real(1), nullptr);
    return a[0];
  });
  // Where a check for faults asks something that is not known, it finds what it wants to find.
  add("assume(tensor, value)", [](Interp&, Arguments& a) {
    const Tensor& tensor = tensor_at(a, 0);
    if (tensor->storage && !ops::known_numbers(tensor)) {
      ops::note_fill(tensor, a.real(1), nullptr);
      if (tensor->storage->known()) tensor->storage->known()->is_assumed = true;
    }
    return a[0];
  });
  // What Python's own generator gives before anybody has seeded it.
  add("unknown_number(is_whole)", [s](Interp&, Arguments& a) {
    return unknown_number(*s, a.boolean(0) ? ops::ScalarType::kInt64 : ops::ScalarType::kFloat64);
  });
  add("is_same_view(a, b)", [](Interp&, Arguments& a) {
    const Tensor& x = tensor_at(a, 0);
    const Tensor& y = tensor_at(a, 1);
    return Value::boolean(x->storage == y->storage && x->offset == y->offset &&
                          x.dtype() == y.dtype() && x.strides() == y.strides());
  });
  add("forget(tensor)", [](Interp&, Arguments& a) {
    overwrite(tensor_at(a, 0));
    return a[0];
  });
  add("reset_weight_and_bias(weight, bias)", [s](Interp& in, Arguments& a) {
    if (s->op_table().has_mode()) {
      const Value init = in.import("torch.nn.init");
      return in.call(in.get_attr(init, in.intern("_reset_weight_and_bias")), {a[0], a[1]});
    }
    reset_weight_and_bias(*s, a);
    return Value::none();
  });
}

}  // namespace tidemark::torch
