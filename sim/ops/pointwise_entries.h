#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "sim/ops/pointwise_rule.h"
#include "sim/ops/registry.h"

/// Makes the op table's entries of tables of pointwise rules, texts of signatures included, while
/// they are compiled: kEntries<TABLE, FLAG>, with an `inplace` flag or without.
namespace tidemark::ops::pointwise_entries {

inline constexpr std::string_view kSource = "docs/rules/pointwise.md#2, #3";

constexpr bool takes_two(std::string_view parameters) {
  return parameters.find("other") != std::string_view::npos;
}
constexpr std::size_t parameter_count(std::string_view parameters) {
  std::size_t n = 1;
  for (const char c : parameters) n += c == ',' ? 1 : 0;
  return n;
}

template <const auto& kTable, std::size_t I>
OpResult run(Arguments& a) {
  if constexpr (takes_two(kTable[I].parameters)) {
    return apply(a.context(), kTable[I], a.operand(0), a.operand(1));
  } else {
    return apply(a.context(), kTable[I], a.tensor(0));
  }
}

template <const auto& kTable, std::size_t I>
OpResult run_in_place(Arguments& a) {
  if constexpr (takes_two(kTable[I].parameters)) {
    return apply_in_place(a.context(), kTable[I], a.tensor(0), a.operand(1));
  } else {
    return apply_in_place(a.context(), kTable[I], a.tensor(0));
  }
}

template <const auto& kTable, std::size_t I>
OpResult run_with_flag(Arguments& a) {
  return a.flag(parameter_count(kTable[I].parameters)) ? run_in_place<kTable, I>(a)
                                                       : run<kTable, I>(a);
}

/// What an entry's signature is made of.
enum class Form : std::uint8_t { kPlain, kInPlace, kWithFlag };

struct Signature {
  std::string_view name;
  std::string_view mark;  ///< behind the name
  std::string_view first;
  std::string_view others;  ///< parameters behind the first type
  std::string_view end;

  template <class Take>
  constexpr void each_part(const Take& take) const {
    for (const std::string_view part : {name, mark, first, others, end}) take(part);
  }
  [[nodiscard]] constexpr std::size_t size() const {
    std::size_t size = 0;
    each_part([&](std::string_view part) { size += part.size(); });
    return size;
  }
};

constexpr Signature signature_of(const PointwiseRule& rule, Form form, bool flag) {
  constexpr std::string_view kOperand = "operand";
  const bool is_made_tensor = form == Form::kInPlace && rule.in_place && rule.where != "F" &&
                              rule.parameters.starts_with(kOperand);
  Signature out{rule.name, "(", "", rule.parameters, flag ? ", bool inplace=False)" : ")"};
  if (form == Form::kInPlace) {
    out.mark = "_(";
    out.end = ")";
  }
  if (is_made_tensor) {
    out.first = "Tensor";
    out.others.remove_prefix(kOperand.size());
  }
  return out;
}

/// The text of an entry, made while this is compiled.
template <const auto& kTable, std::size_t I, Form kForm, bool kFlag>
constexpr auto kText = [] {
  constexpr Signature kSignature = signature_of(kTable[I], kForm, kFlag);
  std::array<char, kSignature.size()> text{};
  std::size_t at = 0;
  kSignature.each_part([&](std::string_view part) {
    for (const char c : part) text[at++] = c;
  });
  return text;
}();

/// The op table's entries of a rule: none, one, or one more for NAME_.
constexpr bool has_entry(const PointwiseRule& rule) { return !rule.where.empty(); }
constexpr bool has_in_place_entry(const PointwiseRule& rule, bool flag) {
  return has_entry(rule) && (flag || (rule.in_place && rule.where != "F"));
}

template <const auto& kTable, bool kFlag, std::size_t I, class Defs>
constexpr void add_one(Defs& defs, std::size_t& count) {
  constexpr const PointwiseRule& kRule = kTable[I];
  if constexpr (has_entry(kRule)) {
    constexpr Form kForm = kFlag ? Form::kWithFlag : Form::kPlain;
    constexpr auto& kWords = kText<kTable, I, kForm, kFlag>;
    defs[count++] = {{kWords.data(), kWords.size()},
                     kRule.where,
                     kFlag ? &run_with_flag<kTable, I> : &run<kTable, I>,
                     kSource,
                     kRule.releases};
  }
  if constexpr (has_in_place_entry(kRule, kFlag)) {
    constexpr auto& kWords = kText<kTable, I, Form::kInPlace, kFlag>;
    defs[count++] = {{kWords.data(), kWords.size()},
                     kFlag ? std::string_view("F torch") : std::string_view("torch method"),
                     &run_in_place<kTable, I>,
                     kSource,
                     kRule.releases};
  }
}

template <const auto& kTable, bool kFlag>
constexpr std::size_t kEntryCount = [] {
  std::size_t count = 0;
  for (const PointwiseRule& rule : kTable)
    count += (has_entry(rule) ? 1U : 0U) + (has_in_place_entry(rule, kFlag) ? 1U : 0U);
  return count;
}();

template <const auto& kTable, bool kFlag>
constexpr auto kEntries = []<std::size_t... I>(std::index_sequence<I...> /*indices*/) {
  std::array<OpDef, kEntryCount<kTable, kFlag>> defs{};
  std::size_t count = 0;
  (add_one<kTable, kFlag, I>(defs, count), ...);
  return defs;
}
(std::make_index_sequence<std::size(kTable)>());

}  // namespace tidemark::ops::pointwise_entries
