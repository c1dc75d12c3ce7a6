#include "sim/lang/runtime/complex.h"

#include <fmt/format.h>

#include <cmath>

#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/text.h"

/// Complex numbers of Python. Source: CPython's Objects/complexobject.c.
namespace tidemark::lang {

namespace {

using Number = std::complex<double>;

std::optional<Number> number_of(const Value& given) {
  const Value& value = plain_of(given);
  if (value.is_number()) return Number(value.number(), 0);
  if (const auto* complex = value.as<Complex>()) return complex->value;
  return std::nullopt;
}

Number quotient(Interp& in, Number a, Number b) {
  if (b == Number()) in.raise(*in.classes().zero_division_error, "complex division by zero");
  if (std::abs(b.real()) >= std::abs(b.imag())) {
    const double ratio = b.imag() / b.real();
    const double whole = b.real() + b.imag() * ratio;
    return {(a.real() + a.imag() * ratio) / whole, (a.imag() - a.real() * ratio) / whole};
  }
  const double ratio = b.real() / b.imag();
  const double whole = b.real() * ratio + b.imag();
  return {(a.real() * ratio + a.imag()) / whole, (a.imag() * ratio - a.real()) / whole};
}

Number product(Number a, Number b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Number power(Interp& in, Number base, Number exponent) {
  if (exponent == Number()) return 1;
  if (base == Number()) {
    if (exponent.imag() != 0 || exponent.real() < 0) {
      in.raise(*in.classes().zero_division_error, "0.0 to a negative or complex power");
    }
    return 0;
  }
  const double whole = exponent.real();
  if (exponent.imag() == 0 && whole == std::floor(whole) && std::abs(whole) <= 100) {
    Number result = 1;
    Number square = base;
    for (auto left = static_cast<int>(std::abs(whole)); left > 0; left >>= 1) {
      if ((left & 1) != 0) result = product(result, square);
      square = product(square, square);
    }
    return whole < 0 ? quotient(in, 1, result) : result;
  }
  const double angle = std::arg(base);
  double length = std::pow(std::abs(base), whole);
  double phase = angle * whole;
  if (exponent.imag() != 0) {
    length *= std::exp(-angle * exponent.imag());
    phase += exponent.imag() * std::log(std::abs(base));
  }
  return {length * std::cos(phase), length * std::sin(phase)};
}

std::string part(double number) {
  std::string text = real_repr(number);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

const Complex& self_of(Arguments& args) { return args.object<Complex>(0, "complex"); }

}  // namespace

Value Complex::get_missing_attr(Interp& interp, Name name) {
  if (interp.text(name) == "real") return Value::real(value.real());
  if (interp.text(name) == "imag") return Value::real(value.imag());
  return {};
}

Value Complex::unary(Interp& interp, UnaryOp op) {
  if (op == UnaryOp::kInvert) return {};
  return op == UnaryOp::kNeg ? make_complex(interp, -value) : Value(Ref<Complex>(this));
}

Value Complex::binary(Interp& interp, BinaryOp op, const Value& other, bool reflected) {
  const std::optional<Number> number = number_of(other);
  if (!number) return {};
  const Number a = reflected ? *number : value;
  const Number b = reflected ? value : *number;
  switch (op) {
    case BinaryOp::kAdd:
      return make_complex(interp, a + b);
    case BinaryOp::kSub:
      return make_complex(interp, a - b);
    case BinaryOp::kMul:
      return make_complex(interp, product(a, b));
    case BinaryOp::kTrueDiv:
      return make_complex(interp, quotient(interp, a, b));
    case BinaryOp::kPow:
      return make_complex(interp, power(interp, a, b));
    default:
      return {};
  }
}

Value Complex::compare(Interp& /*interp*/, CompareOp op, const Value& other) {
  const std::optional<Number> number = number_of(other);
  if (!number || (op != CompareOp::kEq && op != CompareOp::kNe)) return {};
  return Value::boolean((value == *number) == (op == CompareOp::kEq));
}

bool Complex::truth(Interp& /*interp*/) { return value != Number(); }

std::optional<std::uint64_t> Complex::hash(Interp& interp) {
  const std::uint64_t real = interp.hash(Value::real(value.real()));
  if (value.imag() == 0) return real;
  return real + 1000003 * interp.hash(Value::real(value.imag()));
}

std::string Complex::repr(Interp& /*interp*/) {
  const std::string imaginary = part(value.imag());
  if (value.real() == 0 && !std::signbit(value.real())) return imaginary + "j";
  const bool signless = imaginary[0] != '-';
  return fmt::format("({}{}{}j)", part(value.real()), signless ? "+" : "", imaginary);
}

Value Complex::deep_copy(Interp& /*interp*/, DeepCopies& /*copies*/) { return Ref<Complex>(this); }

Value make_complex(Interp& interp, Number number) {
  const Value* type = interp.find_builtin(interp.intern("complex"));
  return make_ref<Complex>(interp.heap(), type->ref<ClassObject>(), number);
}

void add_complex(Interp& interp) {
  const Ref<ClassObject> type = interp.make_class("complex", "builtins");
  type->final = true;
  type->construct = [](Interp& in, ClassObject&, CallArgs& args) -> Value {
    Number number;
    for (std::size_t i = 0; i < 2; ++i) {
      const Value* given =
          i < args.positional ? &args.values[i] : args.keyword(in.intern(i == 0 ? "real" : "imag"));
      if (given == nullptr) continue;
      const std::optional<Number> one = number_of(*given);
      if (!one) {
        if (plain_of(*given).as<Str>() != nullptr) {
          in.refuse("complex() of a string is not supported");
        }
        in.type_error(fmt::format("complex() {} argument must be a number, not '{}'",
                                  i == 0 ? "first" : "second", in.type_name(*given)));
      }
      number += i == 0 ? *one : product(*one, Number(0, 1));
    }
    return make_complex(in, number);
  };
  interp.set_builtin(type->name(), type);
  define(interp, *type, "conjugate(self, /)", [](Interp& in, Arguments& args) {
    return make_complex(in, std::conj(self_of(args).value));
  });
  define(interp, *type, "__abs__(self, /)",
         [](Interp&, Arguments& args) { return Value::real(std::abs(self_of(args).value)); });
  interp.set_builtin(interp.intern(kImaginary),
                     interp.raw_function(kImaginary, [](Interp& in, CallArgs& args) {
                       return make_complex(in, {0, args.values[0].number()});
                     }));
}

}  // namespace tidemark::lang
