#include "sim/ops/values/rule.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/base/check.h"
#include "sim/base/name_hash.h"
#include "sim/ops/releases.h"
#include "sim/ops/values/mkl_stream.h"

namespace tidemark::ops {

namespace {

class RuleRecipe final : public Recipe {
 public:
  RuleRecipe(const ValueRule& rule, ValueCall call) : rule_(rule), call_(std::move(call)) {}
  bool make(Numbers& out) const override {
    if (rule_.of_one != nullptr) return make_of_one(rule_.of_one, call_, out);
    if (rule_.of_two != nullptr) return make_of_two(rule_.of_two, call_, out);
    return rule_.make(call_, out);
  }
  void write(StateImage& image) const override;

 private:
  const ValueRule& rule_;
  ValueCall call_;
};

void write_plain(StateImage& image, const Argument& value) {
  image.put(value.index());
  if (const bool* flag = std::get_if<bool>(&value)) image.put(*flag ? 1 : 0);
  if (const auto* number = std::get_if<std::int64_t>(&value)) image.put_signed(*number);
  if (const auto* number = std::get_if<double>(&value)) image.put_real(*number);
  if (const auto* text = std::get_if<std::string>(&value)) image.put_text(*text);
  if (const auto* dims = std::get_if<Dims>(&value)) {
    image.put(dims->size());
    for (const std::int64_t each : *dims) image.put_signed(each);
  }
}

void RuleRecipe::write(StateImage& image) const {
  image.put_text(rule_.name);
  image.put(call_.which);
  for (const ValueCall::Given& given : call_.given) {
    write_plain(image, given.plain);
    for (const View& view : given.views) {
      image.put(view.known ? 1 : 0);
      if (view.known) view.known->write(image);
      for (std::size_t d = 0; d < view.sizes.size(); ++d) {
        image.put_signed(view.sizes[d]);
        image.put_signed(view.strides[d]);
      }
      image.put_signed(view.offset);
    }
  }
}

/// All rules by name, each once: open addressing by hash_name().
class Rules {
 public:
  Rules() {
    std::size_t count = 0;
    for (const auto family : {recorded_values(), elementwise_values(), reduction_values(),
                              pooling_values(), arranging_values(), selecting_values(),
                              writing_values(), statistics_values(), factory_values()}) {
      count += family.size();
      TIDEMARK_CHECK(count * 2 <= slots_.size(), "the rules of values have outgrown their table");
      for (const ValueRule& rule : family) {
        const ValueRule*& slot = *slot_of(rule.name);
        TIDEMARK_CHECK(slot == nullptr, "an operator's numbers are stated twice");
        slot = &rule;
      }
    }
  }
  /// Null: there is none.
  [[nodiscard]] const ValueRule* find(std::string_view name) const {
    return *const_cast<Rules*>(this)->slot_of(name);
  }

 private:
  const ValueRule** slot_of(std::string_view name) {
    std::size_t slot = hash_name(name) % slots_.size();
    while (slots_[slot] != nullptr && slots_[slot]->name != name) slot = (slot + 1) % slots_.size();
    return &slots_[slot];
  }
  std::array<const ValueRule*, 1024> slots_{};
};

}  // namespace

double ValueCall::number(std::size_t i, double otherwise) const {
  if (i >= given.size()) return otherwise;
  const Argument& value = plain(i);
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return otherwise;
}

std::optional<Numbers> ValueCall::spread(std::size_t i) const {
  if (is_tensor(i)) return numbers_of(broadcast_view(view(i), sizes));
  Numbers out;
  const bool is_whole = !std::holds_alternative<double>(plain(i));
  out.dtype = is_whole ? ScalarType::kInt64 : ScalarType::kFloat64;
  out.resize(static_cast<std::size_t>(numel_of(sizes)));
  if (const auto* whole = std::get_if<std::int64_t>(&plain(i))) {
    std::fill(out.whole.begin(), out.whole.end(), *whole);
  } else {
    for (std::size_t k = 0; k < out.size(); ++k) out.set(k, number(i));
  }
  return out;
}

std::size_t ValueCall::dim(std::size_t i, std::size_t rank, std::int64_t otherwise) const {
  const std::int64_t wanted = integer(i, otherwise);
  if (rank == 0) return 0;
  return static_cast<std::size_t>(wanted < 0 ? wanted + static_cast<std::int64_t>(rank) : wanted);
}

const ValueRule* value_rule(std::string_view op) {
  static const Rules rules;
  if (const ValueRule* own = rules.find(op)) return own;
  if (!op.ends_with('_')) return nullptr;
  op.remove_suffix(1);
  return rules.find(op);
}

ValueWork::ValueWork(const ValueRule* rule, bool writes, const Arguments& arguments,
                     std::size_t count)
    : rule_(rule), writes_(writes) {
  if (rule == nullptr) return;
  if (writes_) {
    const auto* self = std::get_if<Tensor>(&arguments.value(0));
    writes_ = self != nullptr && self->defined() && (*self)->storage;
    if (writes_) before_ = (*self)->storage->known();
  }
  using Kind = ValueRule::Kind;
  if (rule->kind == Kind::kDraw) {
    const auto* first = std::get_if<Tensor>(&arguments.value(0));
    if (rule->make == nullptr) return;
    if (first != nullptr && first->defined() && first->is_cuda()) rule_ = nullptr;
    if (rule_ == nullptr) return;
  }
  const auto skips = [&](std::size_t i) {
    return rule->kind == Kind::kFresh || (rule->kind == Kind::kOverwrite && i == 0);
  };
  const bool may_settle = rule->kind == Kind::kSettling;
  const auto is_blank = [&](const Tensor& tensor) {
    if (rule->kind == Kind::kWhole && tensor.defined() && is_floating(tensor.dtype())) return true;
    if (!tensor.defined() || (tensor->storage && tensor->storage->known())) return false;
    return !may_settle || is_floating(tensor.dtype()) || is_complex(tensor.dtype());
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (skips(i)) continue;
    const Argument& value = arguments.value(i);
    if (const auto* tensor = std::get_if<Tensor>(&value)) {
      if (is_blank(*tensor)) return;
    } else if (const auto* list = std::get_if<TensorList>(&value)) {
      if (std::any_of(list->begin(), list->end(), is_blank)) return;
    }
  }
  given_.resize(count);
  const auto look = [&](const Tensor& tensor, ValueCall::Given& into) {
    std::optional<View> view = view_of(tensor);
    if (!view && may_settle) {
      into.views.push_back({nullptr, tensor.sizes(), tensor.strides(), 0});
      return true;
    }
    if (!view) return false;
    is_random_ = is_random_ || view->known->is_random;
    is_assumed_ = is_assumed_ || view->known->is_assumed;
    depth_ = std::max(depth_, view->known->depth);
    into.views.push_back(*std::move(view));
    return true;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const Argument& value = arguments.value(i);
    const auto* tensor = std::get_if<Tensor>(&value);
    const auto* list = std::get_if<TensorList>(&value);
    if (tensor == nullptr && list == nullptr) {
      given_[i].plain = value;
      continue;
    }
    given_[i].is_list = list != nullptr;
    if (skips(i)) continue;
    given_[i].is_tensor = tensor != nullptr;
    if (tensor != nullptr && !look(*tensor, given_[i])) return;
    if (list == nullptr) continue;
    for (const Tensor& each : *list) {
      if (!look(each, given_[i])) return;
    }
  }
  const auto knows = [](const ValueCall::Given& given) {
    return std::any_of(given.views.begin(), given.views.end(),
                       [](const View& view) { return static_cast<bool>(view.known); });
  };
  is_known_ = !may_settle || std::any_of(given_.begin(), given_.end(), knows);
}

void ValueWork::draw(const Tensor& result, const Arguments& arguments, Generator& generator) {
  const DrawPlan plan = rule_->draw(arguments, result);
  if (plan.what == DrawPlan::What::kNothing) return;
  if (plan.what == DrawPlan::What::kUnknown) {
    generator.is_known = false;
    return;
  }
  const bool is_known = generator.is_known && plan.numel <= kMostOnHost;
  const bool by_mkl = plan.numel > 0 && is_drawn_by_mkl(plan.spec.kind) &&
                      arguments.context().rules().host_draws_by_mkl;
  if (!is_known && !by_mkl) {
    generator.advance(plan.spec, plan.dtype, plan.numel);
    return;
  }
  Noted noted;
  noted.is_random = true;
  noted.recipe = by_mkl ? draw_by_mkl(generator, plan.spec, plan.dtype)
                        : generator.draw(plan.spec, plan.dtype, plan.numel);
  if (!is_known) return;
  if (rule_->make == nullptr || plan.is_result) {
    if (by_mkl) {
      note_numbers(result, std::move(noted), before_);
    } else {
      note_in_memory_order(result, std::move(noted), before_);
    }
    return;
  }
  if (!is_known_) return;
  ValueCall::Given drawn;
  drawn.is_tensor = true;
  Ref<Known> numbers = make_ref<Known>(plan.dtype, plan.numel, std::move(noted.recipe));
  numbers->is_random = true;
  drawn.views.push_back({std::move(numbers), {plan.numel}, {1}, 0});
  given_.push_back(std::move(drawn));
  is_random_ = true;
  note_made(result, 0);
}

void note_made_by(const ValueRule& rule, ValueCall call, const Tensor& result, Noted noted,
                  const Ref<Known>& before) {
  noted.recipe = std::make_unique<RuleRecipe>(rule, std::move(call));
  note_numbers(result, std::move(noted), before);
}

void ValueWork::note_made(const Tensor& result, std::size_t which) {
  if (result.numel() > most_kept(result.device())) return;
  ValueCall call;
  call.given = given_;
  call.sizes = result.sizes();
  call.dtype = result.dtype();
  call.which = which;
  note_made_by(*rule_, std::move(call), result, {nullptr, is_random_, is_assumed_, depth_},
               before_);
}

void ValueWork::stand_in(const Tensor& result, const Arguments& arguments) {
  const DrawPlan plan = rule_->draw(arguments, result);
  constexpr std::int64_t kMostShares = 1024;
  const std::int64_t most = plan.spec.kind == Draw::kBetween   ? kMostOnDevice
                            : plan.spec.kind == Draw::kUniform ? kMostShares
                                                               : 0;
  if (plan.what != DrawPlan::What::kNumbers || plan.numel > most) return;
  Generator generator;
  generator.set_seed(1);
  Noted noted;
  noted.is_assumed = true;
  noted.recipe = generator.draw(plan.spec, plan.dtype, plan.numel);
  note_in_memory_order(result, std::move(noted), before_);
}

void ValueWork::note(const OpResult& result, const Arguments& arguments, Generator& generator) {
  if (rule_ == nullptr || result.tensors.empty()) return;
  if (rule_->kind == ValueRule::Kind::kDraw) {
    const Tensor& first = result.tensors.front();
    if (first.device() == kHost) {
      draw(first, arguments, generator);
    } else {
      stand_in(first, arguments);
    }
    return;
  }
  const bool is_healthy = rule_->kind == ValueRule::Kind::kHealthy && !is_known_;
  if (!is_known_ && !is_healthy) return;
  const std::size_t outputs = std::min(rule_->outputs, result.tensors.size());
  for (std::size_t which = 0; which < outputs; ++which) {
    const Tensor& tensor = result.tensors[which];
    if (!tensor.defined() || !tensor->storage) continue;
    if (rule_->on_host && tensor.is_cuda()) continue;
    if (is_healthy) {
      note_fill(tensor, rule_->healthy ? 1 : 0, nullptr);
      if (tensor->storage->known()) tensor->storage->known()->is_assumed = true;
    } else if (writes_ || !tensor->storage->known()) {
      // (What looks into an argument's memory finds its numbers there.)
      note_made(tensor, which);
    }
  }
}

}  // namespace tidemark::ops
