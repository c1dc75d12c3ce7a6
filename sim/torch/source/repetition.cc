#include "sim/torch/source/repetition.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/function_body.h"
#include "sim/lang/runtime/iterators.h"
#include "sim/lang/syntax/loop_uses.h"
#include "sim/torch/source/tensor_writer.h"

namespace tidemark::torch {

using lang::Value;

namespace {

constexpr std::int64_t kFewestTurns = 5;
/// States are written after so many turns, then after one in so many.
constexpr std::uint64_t kEagerStates = 32;
constexpr std::uint64_t kRareTurns = 8;

class Watch final : public lang::LoopWatch {
 public:
  Watch(Session& session, const std::uint64_t& printed, const lang::RangeLoop& loop)
      : session_(session),
        printed_(printed),
        loop_(loop),
        variable_(*static_cast<const lang::NameExpr*>(loop.node.target)),
        before_(session.emitter.amounts()),
        early_before_(session.c.early_vertex) {
    session_.c.early_vertex = session_.emitter.graph().size();
  }
  ~Watch() override { session_.c.early_vertex = early_before_; }

  std::int64_t turn_ended() override {
    ++turns_;
    session_.c.early_vertex = session_.emitter.graph().size();
    const Emitter::Amounts now = session_.emitter.amounts();
    const std::pair<std::uint64_t, std::uint64_t> asked(now.requests - before_.requests,
                                                        now.instructions - before_.instructions);
    before_ = now;
    if (asked.first == 0 || loop_.range.left() < 2 || is_hopeless_) return 0;
    if (asked_.insert(asked).second) return 0;
    if (states_.size() >= kEagerStates && turns_ % kRareTurns != 0) return 0;
    return write_state();
  }

 private:
  struct State {
    std::uint64_t turn = 0;
    std::size_t moment = 0;
    Emitter::Amounts amounts;
    std::int64_t value = 0;  ///< of the variable
    std::uint64_t printed = 0;
    std::uint64_t early_backwards = 0;
    ops::Context::Looks looks;
    std::vector<StateImage::Digest> numbers;  ///< known of storages, in the image's order
    std::vector<ops::GeneratorState> generators;
    std::vector<std::uint64_t> decided;  ///< how often each assumption was made
    std::vector<std::uint64_t> noted;
  };
  struct Hash {
    std::size_t operator()(const StateImage::Digest& digest) const { return digest.low; }
  };

  std::int64_t write_state() {
    if (!uses_) uses_ = lang::uses_of_loop_variable(loop_.node, surroundings());
    if (uses_->obstacle != nullptr) {
      is_hopeless_ = true;
      return 0;
    }
    StateImage image;
    TensorWriter writer(session_, image);
    writer.write_program(loop_.range, *variable_of(variable_));
    writer.write_session();
    writer.finish();
    if (!are_harmless(writer.functions())) {
      is_hopeless_ = true;
      return 0;
    }
    const std::int64_t value = loop_.range.upcoming() - loop_.range.step();
    for (const auto& [plus, divisor] : uses_->remainders)
      image.put_signed(((value + plus) % divisor + divisor) % divisor);
    State state{turns_,
                session_.guarded([&] { return session_.emitter.write_state(image); }),
                session_.emitter.amounts(),
                value,
                printed_,
                session_.c.early_backwards,
                session_.c.looks(),
                {},
                generators(),
                {},
                {}};
    if (session_.decisions != nullptr) state.decided = session_.decisions->counts();
    if (notes() != nullptr) state.noted = notes()->counts();
    for (const TensorWriter::KnownNumbers& known : writer.known_numbers())
      state.numbers.push_back(known.digest);
    if (!image.is_whole()) return 0;
    const auto [at, is_new] = states_.try_emplace(image.digest(), state);
    if (is_new) return 0;
    const std::int64_t count = repeat(at->second, state, writer.known_numbers());
    at->second = state;
    if (count > 0) {
      // What is remembered lies before what was left out.
      states_.clear();
      asked_.clear();
      before_ = session_.emitter.amounts();
    }
    return count;
  }

  [[nodiscard]] lang::Notes* notes() const { return session_.interp.options().notes; }

  /// Of all generators of the host.
  [[nodiscard]] std::vector<ops::GeneratorState> generators() const {
    std::vector<ops::GeneratorState> states;
    for (std::size_t i = 0; i < session_.generators; ++i)
      states.push_back(session_.c.generator(i).state);
    return states;
  }

  /// Returns how many turns are left out.
  std::int64_t repeat(const State& then, const State& now,
                      const std::vector<TensorWriter::KnownNumbers>& known) {
    const Emitter::Amounts& a = then.amounts;
    const Emitter::Amounts& b = now.amounts;
    if (a.statistics != b.statistics || a.refused != b.refused || then.printed != now.printed ||
        then.early_backwards != now.early_backwards || then.looks.random != now.looks.random ||
        then.generators.size() != now.generators.size()) {
      return 0;
    }
    // What a turn may have looked at must be what it was; random numbers it has not looked at.
    for (std::size_t i = 0; i < known.size() && then.looks.all != now.looks.all; ++i) {
      if (!known[i].is_random && !(then.numbers[i] == now.numbers[i])) return 0;
    }
    const auto period = static_cast<std::int64_t>(now.turn - then.turn);
    const std::int64_t step = loop_.range.step();
    std::int64_t turns = loop_.range.left();
    for (const std::int64_t bound : uses_->bounds) {
      // Both sides of the bound, and the bound itself, may differ: all turns of the pattern and all
      // that are left out lie on one side.
      const std::int64_t first = then.value + step;
      const std::int64_t passed = step > 0 ? first - bound : bound - first;
      if (passed > 1) continue;
      const std::int64_t to_bound = (step > 0 ? bound - now.value : now.value - bound) - 1;
      if (to_bound <= 0) return 0;
      turns = std::min(turns, to_bound / std::abs(step));
    }
    Repeat repeat;
    repeat.times = static_cast<std::uint64_t>(turns / period);
    if (repeat.times == 0) return 0;
    repeat.variable = session_.interp.text(variable_.name);
    repeat.pattern_first = then.value + step;
    repeat.pattern_last = now.value;
    repeat.first = now.value + step;
    repeat.last = now.value + static_cast<std::int64_t>(repeat.times) * period * step;
    session_.emitter.repeat(then.moment, a, repeat);
    // The turns left out would have changed these again.
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (!(then.numbers[i] == now.numbers[i])) known[i].storage->set_known(nullptr);
    }
    for (std::size_t i = 0; i < then.generators.size(); ++i)
      session_.c.generator(i).leave_out(then.generators[i], repeat.times);
    if (session_.decisions != nullptr) session_.decisions->leave_out(then.decided, repeat.times);
    if (notes() != nullptr) notes()->leave_out(then.noted, repeat.times);
    return static_cast<std::int64_t>(repeat.times) * period;
  }

  /// Whether no function looks at a global variable of the loop, or changes what was taken for
  /// constant.
  bool are_harmless(const std::vector<const lang::Function*>& functions) {
    if (variable_.access != lang::Access::kGlobal) return true;
    for (const lang::Function* function : functions) {
      if (function->globals.get() != loop_.frame.globals ||
          !known_.insert(function->code.get()).second)
        continue;
      make_body_known(session_.interp, *function->code, *function->globals);
      if (lang::mentions(*function->code, variable_.name)) return false;
      for (const lang::Name name : relied_on_) {
        if (lang::assigns(*function->code, name)) return false;
      }
    }
    return true;
  }

  [[nodiscard]] const Value* variable_of(const lang::NameExpr& name) const {
    if (name.access == lang::Access::kLocal) return &loop_.frame.slots[name.slot];
    if (name.access == lang::Access::kGlobal) return &loop_.frame.globals->at(name.slot);
    return nullptr;
  }
  lang::LoopSurroundings surroundings() {
    lang::LoopSurroundings out;
    out.value_of = [this](const lang::NameExpr& name) -> std::optional<std::int64_t> {
      const Value* found = variable_of(name);
      if (name.access == lang::Access::kGlobal) relied_on_.push_back(name.name);
      return found != nullptr && found->is_int() ? std::optional(found->as_int()) : std::nullopt;
    };
    out.is_label = [this](const lang::NameExpr& name) {
      const Value* found = variable_of(name);
      if (found == nullptr || found->empty()) return false;
      const Ref<lang::Module> marks = session_.interp.import("torch._marks");
      for (const std::string_view label : {"phase", "mark"}) {
        const Value own = session_.interp.find_attr(marks, session_.interp.intern(label));
        if (!own.empty() && own.same_as(*found)) return true;
      }
      return false;
    };
    return out;
  }

  Session& session_;
  const std::uint64_t& printed_;
  const lang::RangeLoop loop_;
  const lang::NameExpr& variable_;
  Emitter::Amounts before_;
  std::uint32_t early_before_;
  std::uint64_t turns_ = 0;
  /// Requests and instructions of a turn.
  std::set<std::pair<std::uint64_t, std::uint64_t>> asked_;
  std::unordered_map<StateImage::Digest, State, Hash> states_;  ///< looked up, never walked
  std::optional<lang::LoopUses> uses_;
  std::vector<lang::Name> relied_on_;  ///< global names that uses_ took for constant
  std::set<const lang::Code*> known_;  ///< functions that do no harm
  bool is_hopeless_ = false;
};

}  // namespace

std::unique_ptr<lang::LoopWatch> Repetition::watch(const lang::RangeLoop& loop) {
  if (loop.range.left() < kFewestTurns) return nullptr;
  const lang::Access access = static_cast<const lang::NameExpr*>(loop.node.target)->access;
  if (access != lang::Access::kLocal && access != lang::Access::kGlobal) return nullptr;
  return std::make_unique<Watch>(session_, printed_, loop);
}

}  // namespace tidemark::torch
