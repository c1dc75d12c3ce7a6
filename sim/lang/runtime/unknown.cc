#include "sim/lang/runtime/unknown.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "sim/lang/runtime/condition.h"
#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/notes.h"
#include "sim/lang/runtime/rank_value.h"
#include "sim/lang/runtime/text.h"
#include "sim/lang/runtime/wide_integer.h"

namespace tidemark::lang {

namespace {

/// Of a `while` whose body may leave it: what does not leave by then is taken for endless.
constexpr std::uint64_t kMostTurns = 1000;

std::string text_at(const Frame& frame, Place place) {
  const std::string_view text = view(frame.code->file->text);
  const std::string_view out = text.substr(place.begin, place.end - place.begin);
  // On one line, as long as a line may be.
  std::string flat;
  for (const char c : out) {
    const bool blank = c == '\n' || c == ' ' || c == '\t';
    if (blank && (flat.empty() || flat.back() == ' ')) continue;
    flat += blank ? ' ' : c;
  }
  constexpr std::size_t kLongest = 80;
  if (flat.size() > kLongest) flat = flat.substr(0, kLongest - 3) + "...";
  return flat;
}

/// The line of a file as its reader counts them.
std::uint32_t line_of(const SourceSpan& at) {
  return at.source ? at.line + at.source->first_line - 1 : at.line;
}

bool is_file(std::string_view path, std::string_view wanted) {
  if (!path.ends_with(wanted)) return false;
  return path.size() == wanted.size() || wanted.empty() ||
         path[path.size() - wanted.size() - 1] == '/';
}

std::string place_text(const SourceSpan& at) {
  return fmt::format("{}:{}", at.source ? at.source->name : std::string(), line_of(at));
}

}  // namespace

GivenValue parse_given_value(const std::string& text) {
  const auto wrong = [&](std::string_view why) -> InputError {
    return InputError(
        Problem{{},
                {},
                fmt::format("assume: '{}': {}", text, why),
                "write FILE:LINE=true, false, both, true*TURNS, false*TURNS or true*TURNS,false, "
                "FILE:LINE=NUMBER, SHARE% or LOW..HIGH"});
  };
  const std::size_t equals = text.rfind('=');
  const std::size_t colon = equals == std::string::npos ? equals : text.rfind(':', equals);
  if (colon == std::string::npos) throw wrong("no place and value");
  GivenValue out;
  out.file = text.substr(0, colon);
  const std::string_view line = std::string_view(text).substr(colon + 1, equals - colon - 1);
  const auto read = std::from_chars(line.data(), line.data() + line.size(), out.line);
  if (line.empty() || read.ec != std::errc() || read.ptr != line.data() + line.size())
    throw wrong("the line is not a number");
  const std::string value = text.substr(equals + 1);
  if (value == "true" || value == "false") {
    out.is_condition = true;
    out.number = value == "true" ? 1 : 0;
    return out;
  }
  if (value.starts_with("true*") || value.starts_with("false*")) {
    out.is_condition = true;
    out.number = value.front() == 't' ? 1 : 0;
    const std::string_view other = out.number == 0 ? ",true" : ",false";
    out.is_once = value.ends_with(other);
    const char* end = value.data() + value.size() - (out.is_once ? other.size() : 0);
    const auto turns = std::from_chars(value.data() + value.find('*') + 1, end, out.times);
    if (turns.ec != std::errc() || turns.ptr != end || out.times == 0)
      throw wrong(
          fmt::format("how often it is {} is not a number", value[0] == 't' ? "true" : "false"));
    return out;
  }
  const auto number = std::from_chars(value.data(), value.data() + value.size(), out.number);
  out.is_share = !value.empty() && value.back() == '%';
  const char* end = value.data() + value.size() - (out.is_share ? 1 : 0);
  if (value.empty() || number.ec != std::errc() || number.ptr != end)
    throw wrong("the value is not true, false, a number or a share in %");
  if (out.is_share && (out.number < 0 || out.number > 100))
    throw wrong("a share is not from 0% to 100%");
  return out;
}

const GivenValue* Decisions::given_at(const SourceSpan& at, bool is_condition) const {
  if (!at.source) return nullptr;
  for (const GivenValue& given : given_) {
    if (given.is_condition == is_condition && given.line == line_of(at) &&
        is_file(at.source->name, given.file))
      return &given;
  }
  return nullptr;
}

bool Decisions::given_direction(const GivenValue& given) {
  if (given.times == 0) return given.number != 0;
  std::uint64_t& held = held_[static_cast<std::size_t>(&given - given_.data())];
  if (given.is_once) {
    held = std::min(held + 1, given.times + 1);
    return (held <= given.times) == (given.number != 0);
  }
  held = held < given.times ? held + 1 : 0;
  return (held > 0) == (given.number != 0);
}

std::uint64_t Decisions::note(const SourceSpan& at, std::string text, bool direction, bool is_check,
                              bool is_given) {
  for (Assumption& each : assumptions_) {
    if (each.at.source == at.source && each.at.line == at.line && each.at.column == at.column &&
        each.direction == direction && each.text == text) {
      return ++each.times;
    }
  }
  assumptions_.push_back({at, std::move(text), direction, is_check, is_given, 1});
  return 1;
}

bool Decisions::decide(Interp& interp) {
  const Frame* frame = interp.current_frame();
  const Frame* user = users_frame(interp);
  const SourceSpan at = users_place(interp);
  Condition condition;
  if (frame != nullptr && frame->code != nullptr) {
    condition = condition_at(*frame->code, frame->at, [&](const ForStmt& loop) {
      for (const RunningFor* each = frame->loop; each != nullptr; each = each->outer) {
        if (&each->node == &loop) return each->iterator.is_endless();
      }
      return false;
    });
  }
  std::string text = user == nullptr ? std::string() : text_at(*user, user->at);
  if (const GivenValue* given = given_at(at, true)) {
    const bool direction = given_direction(*given);
    note(at, std::move(text), direction, false, true);
    return direction;
  }
  const std::string shown = text;
  const bool is_endless = condition.is_endless ||
                          (note(at, std::move(text), condition.wanted, false, false) > kMostTurns &&
                           condition.has_exit);
  if (is_endless) {
    interp.refuse(
        fmt::format("how often this loop runs depends on a value that is not known: {}", shown),
        fmt::format("bound it, or say how many turns: --assume {}={}*TURNS", place_text(at),
                    condition.wanted));
  }
  return condition.wanted;
}

bool Decisions::decide_check(Interp& interp, bool says) {
  const Frame* user = users_frame(interp);
  const SourceSpan at = users_place(interp);
  std::string text = user == nullptr ? std::string() : text_at(*user, user->at);
  const GivenValue* given = given_at(at, true);
  if (given != nullptr) says = given_direction(*given);
  note(at, std::move(text), says, given == nullptr, given != nullptr);
  return says;
}

std::optional<double> Decisions::given_number(Interp& interp) const {
  if (given_.empty()) return std::nullopt;
  const GivenValue* given = given_at(users_place(interp), false);
  if (given == nullptr || given->is_share) return std::nullopt;
  lang::note(interp, fmt::format("the number that is read here is given: {}", given->number));
  return given->number;
}

std::int64_t Decisions::count_of(Interp& interp, std::int64_t most) {
  const SourceSpan at = users_place(interp);
  if (const GivenValue* given = given_at(at, false)) {
    lang::note(interp, fmt::format("how many are chosen here is given: {}{}", given->number,
                                   given->is_share ? "%" : ""));
    const double all = static_cast<double>(most);
    const double count = given->is_share ? std::round(all * given->number / 100) : given->number;
    return static_cast<std::int64_t>(std::clamp(count, 0.0, all));
  }
  if (!may_assume_size(interp)) refuse_number(interp, "a size", {});
  lang::guess(interp,
              fmt::format("how many are chosen here is not known: taken to be all; --assume "
                          "{}=NUMBER, SHARE% or LOW..HIGH says otherwise",
                          place_text(at)));
  if (Notes* notes = interp.options().notes) notes->assume_size_in(users_frame(interp));
  return most;
}

bool Decisions::may_assume_size(const Interp& interp) {
  const Frame* frame = users_frame(interp);
  const Module* module = frame == nullptr ? nullptr : frame->globals;
  return module != nullptr && module->origin == Module::Origin::kInstalled;
}

void Decisions::refuse_number(Interp& interp, std::string_view what, const Location& read) {
  SourceSpan at = interp.span(read);
  if (!at.source) at = users_place(interp);
  interp.refuse(
      fmt::format("{} depends on a value that is not known, read at {}", what, place_text(at)),
      fmt::format("say what it is: --assume {}=NUMBER", place_text(at)));
}

Value Unknown::make_at(Interp& interp, Decisions& decisions, Type type, Location read) {
  const BuiltinClasses& c = interp.classes();
  const Ref<ClassObject>& of_type = type == Type::kBool  ? c.boolean
                                    : type == Type::kInt ? c.integer
                                                         : c.real;
  return make_ref<Unknown>(interp.heap(), of_type, decisions, type, read);
}

Value Unknown::make(Interp& interp, Decisions& decisions, Type type) {
  Location read;
  if (const Frame* user = users_frame(interp)) read = {user->code, user->at.begin, user->at.end};
  return make_at(interp, decisions, type, read);
}

Value Unknown::another(Interp& interp, Type type) const {
  return make_at(interp, decisions_, type, read_);
}

Value Unknown::unary(Interp& interp, UnaryOp /*op*/) {
  return another(interp, kind_ == Type::kBool ? Type::kInt : kind_);
}

namespace {

/// A number of the rank as the rank that runs has it: what comes of it is not known anyway.
const Value& on_this_rank(const Value& value) {
  const auto* of_rank = value.as<RankValue>();
  return plain_of(of_rank == nullptr ? value : of_rank->own());
}

}  // namespace

Value Unknown::binary(Interp& interp, BinaryOp op, const Value& other, bool /*reflected*/) {
  const Value& plain = on_this_rank(other);
  const auto* unknown = plain.as<Unknown>();
  if (op == BinaryOp::kMul &&
      (plain.as<List>() != nullptr || plain.as<Tuple>() != nullptr || plain.as<Str>() != nullptr))
    refuse(interp, "a size");
  if (!plain.is_number() && unknown == nullptr && plain.as<WideInteger>() == nullptr) return {};
  const bool is_real = kind_ == Type::kReal || op == BinaryOp::kTrueDiv || plain.is_float() ||
                       (unknown != nullptr && unknown->kind_ == Type::kReal);
  return another(interp, is_real ? Type::kReal : Type::kInt);
}

Value Unknown::compare(Interp& interp, CompareOp op, const Value& other) {
  const Value& plain = on_this_rank(other);
  if (!plain.is_number() && plain.as<Unknown>() == nullptr) return {};
  // A number is taken to be one, and to be finite: x == x, x < inf.
  const bool is_itself = plain.as<Unknown>() == this;
  const bool is_bound = plain.is_float() && std::isinf(plain.as_float());
  if (!is_itself && !is_bound) return another(interp, Type::kBool);
  const bool is_below = is_bound && plain.as_float() > 0;
  bool says = false;
  switch (op) {
    case CompareOp::kEq:
      says = is_itself;
      break;
    case CompareOp::kNe:
      says = !is_itself;
      break;
    case CompareOp::kLt:
      says = is_below;
      break;
    case CompareOp::kLe:
      says = is_itself || is_below;
      break;
    case CompareOp::kGt:
      says = is_bound && !is_below;
      break;
    case CompareOp::kGe:
      says = is_itself || !is_below;
      break;
  }
  return Value::boolean(decisions_.decide_check(interp, says));
}

std::optional<std::uint64_t> Unknown::hash(Interp& interp) { refuse(interp, "a key"); }

std::string Unknown::repr(Interp& /*interp*/) { return "?"; }

std::string Unknown::format(Interp& interp, std::string_view spec) {
  // As wide as the number would be at least.
  std::size_t at = spec.find_first_of("123456789");
  const std::size_t point = spec.find('.');
  if (at == std::string_view::npos || (point != std::string_view::npos && point < at)) return "?";
  std::string width;
  while (at < spec.size() && spec[at] >= '0' && spec[at] <= '9') width += spec[at++];
  return interp.format(interp.str("?"), ">" + width);
}

Value Unknown::deep_copy(Interp& /*interp*/, DeepCopies& /*copies*/) {
  return Value(Ref<Instance>(this));
}

Value one_of(Interp& interp, const Unknown& which, const Value& container) {
  std::vector<Value> items;
  if (const auto* dict = container.as<Dict>()) {
    for (const ValueTable::Entry& entry : dict->table.entries()) {
      if (!entry.key.empty()) items.push_back(entry.value);
    }
  } else if (const auto* list = container.as<List>()) {
    items = list->items;
  }
  if (items.empty()) return {};
  bool texts = true;
  bool integers = true;
  bool numbers = true;
  for (const Value& item : items) {
    texts = texts && item.as<Str>() != nullptr;
    integers = integers && item.is_integral();
    numbers = numbers && item.is_number();
    if (!texts && !numbers) return {};
  }
  note(interp, "what is looked up here by a value that is not known is not known either");
  if (texts) return interp.str("?");
  return which.another(interp, integers ? Unknown::Type::kInt : Unknown::Type::kReal);
}

}  // namespace tidemark::lang
