#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/lang/runtime/class.h"
#include "sim/lang/runtime/interp.h"
#include "sim/lang/runtime/notes.h"

/// Numbers that the program has and Tidemark does not know: a loss that was read back, a norm.
namespace tidemark::lang {

/// What a program's run rests on: a branch that an unknown number decides was taken in a stated
/// direction.
struct Assumption {
  SourceSpan at;
  std::string text;         ///< of the condition
  bool direction = false;   ///< what it was taken to be
  bool is_check = false;    ///< a check for faults was taken to find none
  bool is_given = false;    ///< the user said so
  std::uint64_t times = 0;  ///< how often it was asked
};

/// In the place of all such: everything unknown counts as zero, as it does where kernels do
/// nothing.
inline constexpr std::string_view kAssumeZeros = "zeros";

/// What the user says of the numbers that a line reads or the condition that stands there:
/// `train.py:12=true`, `train.py:12=8`, `train.py:12=10%`, `train.py:12=true*20`,
/// `train.py:12=true*20,false`.
struct GivenValue {
  std::string file;  ///< as it is called, or the last parts of its path
  std::uint32_t line = 0;
  double number = 0;  ///< of a condition 1 or 0
  bool is_condition = false;
  bool is_share = false;  ///< `number` counts hundredths of what there is
  /// A condition is what it is given so often in a row and then once the other: the turns of a
  /// loop. 0: always.
  std::uint64_t times = 0;
  bool is_once = false;  ///< after those it is the other for good
};
/// Errors: InputError with the text and what is wrong with it.
GivenValue parse_given_value(const std::string& text);

/// Decides what unknown numbers are taken for, and keeps account of it.
class Decisions {
 public:
  explicit Decisions(std::vector<GivenValue> given = {})
      : given_(std::move(given)), held_(given_.size()) {}

  /// The direction of the condition that the program is at. Errors: a refusal, for a `while` whose
  /// end nothing else decides, or has decided after 1,000 turns.
  bool decide(Interp& interp);
  /// What a check for faults says: `says`, as it does without one, or what the user gives.
  bool decide_check(Interp& interp, bool says);
  /// The number that the user gives for what the program reads where it is; nullopt: none.
  std::optional<double> given_number(Interp& interp) const;
  /// How many of `most` are chosen where nobody knows: what the user says, at most all. Where an
  /// installed package chooses, all of them, and told. Errors: a refusal, in the user's own text.
  std::int64_t count_of(Interp& interp, std::int64_t most);
  /// Whether a size that nobody knows may be assumed, and told: an installed package asks for it.
  [[nodiscard]] static bool may_assume_size(const Interp& interp);
  /// A size or an index depends on what is not known. `what`: "a size or an index".
  [[noreturn]] void refuse_number(Interp& interp, std::string_view what, const Location& read);

  /// In the order in which they were first made.
  [[nodiscard]] const std::vector<Assumption>& assumptions() const { return assumptions_; }
  /// How often each was asked.
  [[nodiscard]] std::vector<std::uint64_t> counts() const { return counts_of(assumptions_); }
  /// What was asked since `then` is taken for asked so many times more.
  void leave_out(const std::vector<std::uint64_t>& then, std::uint64_t times) {
    count_left_out(assumptions_, then, times);
  }
  /// Of each value that holds so often: how often it has.
  [[nodiscard]] const std::vector<std::uint64_t>& held() const { return held_; }

 private:
  [[nodiscard]] const GivenValue* given_at(const SourceSpan& at, bool is_condition) const;
  bool given_direction(const GivenValue& given);
  /// Gives how often that was asked.
  std::uint64_t note(const SourceSpan& at, std::string text, bool direction, bool is_check,
                     bool is_given);

  std::vector<GivenValue> given_;
  std::vector<std::uint64_t> held_;  ///< of each given value: how often in a row
  std::vector<Assumption> assumptions_;
};

/// A bool, int or float that is not known. Arithmetic with it gives others; where it decides a
/// branch, Decisions says which; where a size or an index, the program is refused.
class Unknown final : public Instance {
 public:
  enum class Type : std::uint8_t { kBool, kInt, kReal };
  /// Requires: `decisions` lives as long as the interpreter's values.
  static Value make(Interp& interp, Decisions& decisions, Type type);
  Unknown(Heap& heap, Ref<ClassObject> of_type, Decisions& decisions, Type type, Location read)
      : Instance(heap, std::move(of_type), Kind::kInstance, kHostKind),
        decisions_(decisions),
        read_(read),
        kind_(type) {}
  static bool is(const Object& o) {
    return o.kind() == Kind::kInstance && o.host_kind() == kHostKind;
  }

  Value unary(Interp& interp, UnaryOp op) override;
  Value binary(Interp& interp, BinaryOp op, const Value& other, bool reflected) override;
  Value compare(Interp& interp, CompareOp op, const Value& other) override;
  bool truth(Interp& interp) override { return decisions_.decide(interp); }
  std::optional<std::uint64_t> hash(Interp& interp) override;
  std::string repr(Interp& interp) override;
  std::string format(Interp& interp, std::string_view spec) override;
  Value deep_copy(Interp& interp, DeepCopies& copies) override;

  /// Another number that is made of it.
  Value another(Interp& interp, Type type) const;
  [[noreturn]] void refuse(Interp& interp, std::string_view what) const {
    decisions_.refuse_number(interp, what, read_);
  }
  [[nodiscard]] Type kind() const { return kind_; }
  [[nodiscard]] Decisions& decisions() const { return decisions_; }

 private:
  static constexpr std::uint16_t kHostKind = 0xFFFC;  // no other floor's
  static Value make_at(Interp& interp, Decisions& decisions, Type type, Location read);
  Decisions& decisions_;
  const Location read_;
  const Type kind_;
};

/// One of what a list or a dict holds, nobody knows which: of numbers one that is not known, of
/// texts
/// "?", as it prints; told. Empty: of other things. Cost: linear in what it holds.
Value one_of(Interp& interp, const Unknown& which, const Value& container);

}  // namespace tidemark::lang
