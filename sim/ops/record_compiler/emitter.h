#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ops/record_compiler/record.h"

namespace tidemark::ops::records {

/// What an expression is, and the C++ that names it.
struct Value {
  /// kOther: sizes, integers, conditions, types. kScratch: what a kernel holds while it runs.
  enum class Kind : std::uint8_t { kTensor, kNumber, kOther, kList, kScratch, kNothing };
  Kind kind = Kind::kTensor;
  std::string code;
  std::optional<double> constant{};    ///< a number known now
  bool is_known = true;                ///< false: a number that nobody keeps
  std::optional<std::size_t> input{};  ///< the record's own input of that number
  bool is_variable = false;            ///< a statement's: another may give its name a new value
  bool is_integer = false;             ///< a number that is written as one
  bool is_reduction = false;           ///< how a loss is reduced
  std::string text{};                  ///< of a text: itself
  bool is_captured = false;            ///< an input whose look alone the node keeps
  bool is_passed = false;              ///< an input that a function was given: kept as a whole
  [[nodiscard]] bool is_number() const { return kind == Kind::kNumber; }
  /// It has a life: what holds it is a variable of the C++.
  [[nodiscard]] bool lives() const { return kind == Kind::kTensor || kind == Kind::kList; }
};
using Scope = std::map<std::string, Value, std::less<>>;

Value tensor_value(std::string code);
Value number_value(std::string code);
Value other_value(std::string code);

/// Writes C++ of the statements of records: each operation makes one temporary, in the order in
/// which the compiled PyTorch works: the last argument of a call first, but the object of a method
/// before them. What is made dies with its statement or its function, the last one first.
class Emitter {
 public:
  /// `are_operators`: the steps are those of a composite.
  explicit Emitter(const Records& records, bool are_operators = false)
      : records_(records), are_operators_(are_operators) {}

  /// The value of an expression; what it takes is appended to code(). Errors: InputError with its
  /// place for a name that is not known, an operator without a record, arguments that fit none.
  Value value(const Expression& expression, const Scope& scope);
  /// Of statements, the last of which is a value: the same.
  Value body(const std::vector<Statement>& statements, Scope scope);
  /// The values of a function that gives several, each made where it is wanted: `wanted` and
  /// `result` name C++ of them by their number.
  void several(const Expression& call, const Scope& scope, const std::vector<std::string>& wanted,
               const std::vector<std::string>& results);

  [[nodiscard]] const std::string& code() const { return code_; }
  /// A gradient of complex numbers is one that says conj().
  [[nodiscard]] bool conjugates() const { return conjugates_; }
  [[nodiscard]] std::size_t steps() const { return steps_; }
  /// Each step is an operator, too, where gradients are recorded.
  [[nodiscard]] bool can_record() const { return can_record_; }

 private:
  Value call(const Expression& call, const Scope& scope);
  Value list(const Expression& list, const Scope& scope);
  /// [f(x) for x in list]
  Value each_of(const Expression& each, Scope scope);
  Value of_numbers(const Expression& call, const std::vector<Value>& values);
  Value choice(const Expression& choice, const Scope& scope);
  Value zeros_like(const Expression& call, const Scope& scope);
  Value refuse(const Expression& call);
  Value step(std::string code, Value::Kind kind = Value::Kind::kTensor);
  /// Of sizes, integers and conditions: C++'s own operators.
  [[nodiscard]] std::optional<Value> of_plain(const Expression& call,
                                              const std::vector<Value>& values) const;
  Value native(const Expression& call, const Native& of, const std::vector<Value>& values);
  /// Another operator whose record is whole.
  Value whole(const Expression& call, const Record& of, const std::vector<Value>& values);
  Value write(std::string code, const Value& self);
  Scope scope_of(const Expression& call, const Function& function,
                 const std::vector<Value>& values) const;
  void statement(const Statement& statement, Scope& scope);
  std::vector<Value> arguments(const Expression& call, const Scope& scope);
  Value apply(const Expression& call, const std::vector<Value>& values);
  /// What says something of its arguments: of conditions, of how a loss is reduced.
  std::optional<Value> plain(const Expression& call, const std::vector<Value>& values) const;
  /// A step of `Steps`, or of a composite: another operator whose record is whole.
  std::optional<Value> named(const Expression& call, const std::vector<Value>& values);
  std::string fresh() { return "t" + std::to_string(names_++); }
  /// What a branch makes lives as long as the statement that it is in, as in C++.
  Value branch(const Expression& expression, const Scope& scope, std::string& declared);
  void line(const std::string& text) { code_ += "  " + text + "\n"; }

  const Records& records_;
  bool are_operators_;
  bool can_record_ = true;
  std::string code_;
  std::size_t names_ = 0;
  std::size_t steps_ = 0;
  std::string* declared_ = nullptr;  ///< where a branch's temporaries are declared
  bool conjugates_ = false;
};

}  // namespace tidemark::ops::records
