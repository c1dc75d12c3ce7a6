#include "sim/lang/runtime/rank_value.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/runtime/notes.h"
#include "sim/lang/runtime/unknown.h"

namespace tidemark::lang {

namespace {

bool is_scalar(const Value& value) {
  return value.is_number() || value.is_none() || value.as<Str>() != nullptr;
}

bool has_same_type(const Value& a, const Value& b) {
  return a.tag() == b.tag() && (a.as<Str>() != nullptr) == (b.as<Str>() != nullptr);
}

/// Values of one type by what they are.
class Numbering {
 public:
  std::uint32_t number(const Value& value) {
    const auto next = static_cast<std::uint32_t>(values_.size());
    if (const Str* text = value.as<Str>()) {
      const auto [place, is_new] = texts_.try_emplace(text->text(), next);
      if (is_new) values_.push_back(value);
      return place->second;
    }
    const auto [place, is_new] = numbers_.try_emplace(value.as_int(), next);
    if (is_new) values_.push_back(value);
    return place->second;
  }
  std::vector<Value>& values() { return values_; }

 private:
  std::unordered_map<std::int64_t, std::uint32_t> numbers_;  // of a float its bits
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::vector<Value> values_;
};

Ref<ClassObject> class_of(const Interp& interp, const Value& value) {
  const BuiltinClasses& c = interp.classes();
  switch (value.tag()) {
    case Tag::kBool:
      return c.boolean;
    case Tag::kInt:
      return c.integer;
    case Tag::kFloat:
      return c.real;
    default:
      return c.str;
  }
}

/// A value of which each rank that is left has its own. A plain one where all have the same.
Value made(Interp& interp, Alike& alike, const std::function<Value(int rank)>& value_of) {
  const auto world = static_cast<std::size_t>(alike.job().world);
  auto of = std::make_shared<std::vector<std::uint32_t>>(world, 0);
  Numbering numbering;
  for (const int rank : alike.ranks())
    (*of)[static_cast<std::size_t>(rank)] = numbering.number(value_of(rank));
  if (numbering.values().size() == 1) return numbering.values().front();
  const Ref<ClassObject> type = class_of(interp, numbering.values().front());
  return make_ref<RankValue>(interp.heap(), type, alike, std::move(of),
                             std::move(numbering.values()));
}

/// What a function gives on each rank, asked once for all ranks whose arguments are the same.
class Lifted {
 public:
  Lifted(Interp& interp, std::span<const Value> arguments, const Pure& function)
      : interp_(interp), arguments_(arguments.begin(), arguments.end()), function_(function) {
    for (const Value& argument : arguments_) {
      auto* value = argument.as<RankValue>();
      varying_.push_back(value);
      if (value != nullptr) alike_ = &value->alike();
    }
  }

  Value result() {
    const int self = alike_->job().index;
    Value own;
    try {
      own = function_(arguments_of(self));
    } catch (const Raised&) {
      pin_all();
      throw;
    }
    if (!is_scalar(own)) {
      pin_all();
      return own;
    }
    if (const RankValue* only = only_varying()) return result_by_cell(own, *only);
    std::unordered_map<std::uint64_t, Value> results;
    results.emplace(key_of(self), own);
    std::vector<Value> by_rank(static_cast<std::size_t>(alike_->job().world));
    for (const int rank : alike_->ranks()) {
      const auto [place, is_new] = results.try_emplace(key_of(rank));
      if (is_new) place->second = tried(rank);
      by_rank[static_cast<std::size_t>(rank)] = place->second;
    }
    const auto of = [&](int rank) -> const Value& {
      return by_rank[static_cast<std::size_t>(rank)];
    };
    alike_->keep_only(interp_,
                      [&](int rank) { return !of(rank).empty() && has_same_type(of(rank), own); });
    if (own.is_none()) return own;
    return made(interp_, *alike_, of);
  }

 private:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;

  /// The argument that is another on other ranks, where there is one such.
  const RankValue* only_varying() const {
    const RankValue* only = nullptr;
    for (const RankValue* value : varying_) {
      if (value == nullptr) continue;
      if (only != nullptr && only != value) return nullptr;
      only = value;
    }
    return only;
  }

  /// What result() gives, a value a cell of the argument instead of a rank.
  Value result_by_cell(const Value& own, const RankValue& argument) {
    const std::vector<std::uint32_t>& cells = *argument.cells();
    const auto cell = [&](int rank) { return cells[static_cast<std::size_t>(rank)]; };
    const std::uint32_t own_cell = cell(alike_->job().index);
    std::vector<Value> of(argument.values().size());
    std::vector<bool> is_asked(of.size());
    of[own_cell] = own;
    is_asked[own_cell] = true;
    for (const int rank : alike_->ranks()) {
      if (is_asked[cell(rank)]) continue;
      is_asked[cell(rank)] = true;
      of[cell(rank)] = tried(rank);
    }
    std::vector<bool> fits;
    fits.reserve(of.size());
    for (const Value& value : of) fits.push_back(!value.empty() && has_same_type(value, own));
    alike_->keep_only(interp_, [&](int rank) { return fits[cell(rank)]; });
    if (own.is_none()) return own;
    auto numbers = std::make_shared<std::vector<std::uint32_t>>(cells.size(), 0);
    std::vector<std::uint32_t> number_of(of.size(), kUnknown);
    Numbering numbering;
    for (const int rank : alike_->ranks()) {
      std::uint32_t& number = number_of[cell(rank)];
      if (number == kUnknown) number = numbering.number(of[cell(rank)]);
      (*numbers)[static_cast<std::size_t>(rank)] = number;
    }
    if (numbering.values().size() == 1) return numbering.values().front();
    const Ref<ClassObject> type = class_of(interp_, numbering.values().front());
    return make_ref<RankValue>(interp_.heap(), type, *alike_, std::move(numbers),
                               std::move(numbering.values()));
  }

  /// The same for ranks that have the same arguments.
  std::uint64_t key_of(int rank) const {
    std::uint64_t key = 0;
    for (const RankValue* value : varying_) {
      if (value == nullptr) continue;
      key = key * value->values().size() + (*value->cells())[static_cast<std::size_t>(rank)];
    }
    return key;
  }

  std::vector<Value> arguments_of(int rank) const {
    std::vector<Value> out = arguments_;
    for (std::size_t i = 0; i < out.size(); ++i)
      if (varying_[i] != nullptr) out[i] = varying_[i]->of(rank);
    return out;
  }

  Value tried(int rank) const {
    try {
      return function_(arguments_of(rank));
    } catch (const Raised&) {
      return {};
    }
  }

  void pin_all() {
    for (RankValue* value : varying_)
      if (value != nullptr) (void)value->pinned(interp_);
  }

  Interp& interp_;
  const std::vector<Value> arguments_;
  const Pure& function_;
  std::vector<RankValue*> varying_;
  Alike* alike_ = nullptr;
};

}  // namespace

Alike::Alike(const Rank& job) : job_(job) {
  ranks_.reserve(static_cast<std::size_t>(job.world));
  for (int rank = 0; rank < job.world; ++rank) ranks_.push_back(rank);
}

Value Alike::numbers(Interp& interp, const std::function<std::int64_t(int rank)>& number) {
  return made(interp, *this, [&](int rank) { return Value::integer(number(rank)); });
}

Value Alike::texts(Interp& interp, const std::function<std::int64_t(int rank)>& number) {
  return made(interp, *this, [&](int rank) { return interp.str(std::to_string(number(rank))); });
}

const Value& Alike::local_rank(Interp& interp) {
  if (local_rank_.empty()) {
    local_rank_ = numbers(interp, [&](int rank) { return rank % job_.per_node; });
  }
  return local_rank_;
}

void Alike::keep_only(const Interp& interp, const std::function<bool(int rank)>& fits) {
  part(fits, [&] { return users_place(interp); });
}

void Alike::part(const std::function<bool(int rank)>& fits,
                 const std::function<SourceSpan()>& place) {
  if (ranks_.size() == 1) return;
  std::vector<int> others;
  std::erase_if(ranks_, [&](int rank) {
    const bool is_other = !fits(rank);
    if (is_other) others.push_back(rank);
    return is_other;
  });
  if (others.empty()) return;
  if (on_parting) on_parting(others);
  const SourceSpan at = place ? place() : SourceSpan();
  const std::uint64_t parted = others.size();
  for (Parting& each : partings_) {
    if (each.at.source == at.source && each.at.line == at.line) {
      each.ranks += parted;
      return;
    }
  }
  partings_.push_back({at, parted});
}

void Alike::end() {
  local_rank_.reset();
  rests_on_.clear();
  has_device = false;
}

void Alike::name_device(const Interp& interp, int index) {
  const bool is_own = job_.local() == index;
  keep_only(interp, [&](int rank) { return (rank % job_.per_node == index) == is_own; });
}

Value text_of_ranks(Interp& interp, const Value& value) {
  if (is_of_rank(value)) return value;
  if (value.as<Instance>() == nullptr) return {};
  Alike* alike = alike_of(interp);
  return alike == nullptr || !alike->text_of ? Value() : alike->text_of(interp, value);
}

Alike* alike_of(const Interp& interp) {
  const Notes* notes = interp.options().notes;
  return notes == nullptr ? nullptr : notes->alike();
}

RankValue::RankValue(Heap& heap, Ref<ClassObject> type, Alike& alike, Cells of,
                     std::vector<Value> values)
    : Instance(heap, std::move(type), Kind::kInstance, kHostKind),
      alike_(alike),
      of_(std::move(of)),
      values_(std::move(values)) {}

const Value& RankValue::own() const { return of(alike_.job().index); }

const Value& RankValue::pinned(const Interp& interp) {
  const Value& mine = own();
  const std::uint32_t cell = (*of_)[index(alike_.job().index)];
  alike_.keep_only(interp, [&](int rank) { return (*of_)[index(rank)] == cell; });
  return mine;
}

Value RankValue::unary(Interp& interp, UnaryOp op) {
  const Value self[] = {Ref<Instance>(this)};
  return by_rank(interp, self, [&](auto of) { return interp.unary(op, of[0]); });
}

Value RankValue::binary(Interp& interp, BinaryOp op, const Value& other, bool reflected) {
  const Value& plain = plain_of(other);
  if (!is_scalar(plain) && !is_of_rank(plain)) {
    // What comes of a number that nobody knows is not known on any rank.
    const Value own_value = plain.as<Unknown>() != nullptr ? own() : pinned(interp);
    return reflected ? interp.binary(op, plain, own_value) : interp.binary(op, own_value, plain);
  }
  const Value both[] = {Ref<Instance>(this), plain};
  return by_rank(interp, both, [&](auto of) {
    return reflected ? interp.binary(op, of[1], of[0]) : interp.binary(op, of[0], of[1]);
  });
}

Value RankValue::compare(Interp& interp, CompareOp op, const Value& other) {
  const Value& plain = plain_of(other);
  if (!is_scalar(plain) && !is_of_rank(plain))
    return interp.compare(op, Value(pinned(interp)), plain);
  const Value both[] = {Ref<Instance>(this), plain};
  return by_rank(interp, both, [&](auto of) { return interp.compare(op, of[0], of[1]); });
}

Value RankValue::get_item(Interp& interp, const Value& key) {
  return interp.get_item(pinned(interp), key);
}

std::optional<std::int64_t> RankValue::length(Interp& interp) {
  return interp.length(pinned(interp));
}

Value RankValue::iterate(Interp& interp) { return interp.iterate(pinned(interp)); }

std::optional<bool> RankValue::contains(Interp& interp, const Value& item) {
  return interp.contains(pinned(interp), item);
}

bool RankValue::truth(Interp& interp) {
  std::vector<bool> truths;
  truths.reserve(values_.size());
  for (const Value& value : values_) truths.push_back(interp.truth(value));
  const bool mine = truths[(*of_)[index(alike_.job().index)]];
  alike_.keep_only(interp, [&](int rank) { return truths[(*of_)[index(rank)]] == mine; });
  return mine;
}

std::optional<std::uint64_t> RankValue::hash(Interp& interp) { return interp.hash(pinned(interp)); }

std::string RankValue::repr(Interp& interp) { return interp.repr(pinned(interp)); }

std::string RankValue::str(Interp& interp) { return interp.to_str(pinned(interp)); }

std::string RankValue::format(Interp& interp, std::string_view spec) {
  return interp.format(pinned(interp), spec);
}

Value RankValue::deep_copy(Interp& /*interp*/, DeepCopies& /*copies*/) {
  return Value(Ref<Instance>(this));
}

bool any_of_rank(std::span<const Value> values) {
  return std::any_of(values.begin(), values.end(), [](const Value& v) { return is_of_rank(v); });
}

Value by_rank(Interp& interp, std::span<const Value> arguments, const Pure& function) {
  if (!any_of_rank(arguments)) return function(arguments);
  return Lifted(interp, arguments, function).result();
}

const Value& pinned(const Interp& interp, const Value& value) {
  auto* varying = value.as<RankValue>();
  return varying == nullptr ? value : varying->pinned(interp);
}

const Value& shown(const Value& value) {
  const auto* varying = value.as<RankValue>();
  return varying == nullptr ? value : varying->own();
}

}  // namespace tidemark::lang
