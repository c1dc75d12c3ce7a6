#include <fmt/format.h>

#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/frame.h"

/// Matching of patterns, as CPython 3.11 does it.
namespace tidemark::lang {

/// What a pattern binds is kept aside until the whole of it fits.
class Evaluator::Matching {
 public:
  Matching(Evaluator& evaluator, Interp& in, Frame& frame)
      : evaluator_(evaluator), in_(in), frame_(frame) {}

  bool fits(const Pattern* pattern, const Value& subject);
  void bind() {
    for (Capture& capture : captures_) evaluator_.store(capture.target, std::move(capture.value));
    captures_.clear();
  }
  void forget() { captures_.clear(); }

 private:
  struct Capture {
    const NameExpr* target;
    Value value;
  };

  bool is_value(const ValuePattern* pattern, const Value& subject);
  bool is_sequence(const SequencePattern* pattern, const Value& subject);
  bool is_mapping(const MappingPattern* pattern, const Value& subject);
  bool is_object(const ClassPattern* pattern, const Value& subject);
  bool is_either(const OrPattern* pattern, const Value& subject);
  bool attribute_fits(const Value& subject, Name name, const Pattern* pattern);
  /// Whether the type says by a mark of its own ("__is_sequence__") that it is of a kind.
  bool is_marked(const Value& subject, std::string_view mark) {
    return subject.as<Instance>() != nullptr &&
           in_.type_of(subject)->lookup(in_.intern(mark)) != nullptr;
  }

  Evaluator& evaluator_;
  Interp& in_;
  Frame& frame_;
  std::vector<Capture> captures_;
};

bool Evaluator::Matching::fits(const Pattern* pattern, const Value& subject) {
  frame_.at = pattern->place;
  switch (pattern->kind) {
    case PatternKind::kValue:
      return is_value(static_cast<const ValuePattern*>(pattern), subject);
    case PatternKind::kCapture: {
      const auto* capture = static_cast<const CapturePattern*>(pattern);
      if (capture->inner != nullptr && !fits(capture->inner, subject)) return false;
      if (capture->target != nullptr) captures_.push_back({capture->target, subject});
      return true;
    }
    case PatternKind::kSequence:
      return is_sequence(static_cast<const SequencePattern*>(pattern), subject);
    case PatternKind::kMapping:
      return is_mapping(static_cast<const MappingPattern*>(pattern), subject);
    case PatternKind::kClass:
      return is_object(static_cast<const ClassPattern*>(pattern), subject);
    case PatternKind::kOr:
      return is_either(static_cast<const OrPattern*>(pattern), subject);
  }
  return false;
}

bool Evaluator::Matching::is_value(const ValuePattern* pattern, const Value& subject) {
  const Value value = evaluator_.eval(pattern->value);
  frame_.at = pattern->place;
  if (pattern->by_identity) return subject.same_as(value);
  return in_.truth(in_.compare(CompareOp::kEq, subject, value));
}

bool Evaluator::Matching::is_sequence(const SequencePattern* pattern, const Value& subject) {
  const bool is_one = subject.as<List>() != nullptr || subject.as<Tuple>() != nullptr ||
                      subject.as<Range>() != nullptr || is_marked(subject, "__is_sequence__");
  if (!is_one) return false;
  const std::size_t wanted = pattern->items.size;
  const bool has_star = pattern->star < wanted;
  const auto length = static_cast<std::size_t>(in_.length(subject));
  if (has_star ? length + 1 < wanted : length != wanted) return false;
  std::vector<Value> items = in_.unpack(subject);
  if (items.size() != length) {
    in_.value_error(
        fmt::format("a sequence of {} elements, by its len(), gave {}", length, items.size()));
  }
  const std::size_t taken = has_star ? items.size() + 1 - wanted : 0;
  for (std::size_t i = 0, at = 0; i < wanted; ++i) {
    if (i != pattern->star) {
      if (!fits(pattern->items[i], items[at++])) return false;
      continue;
    }
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(at);
    at += taken;
    const Value rest =
        in_.list(std::vector<Value>(first, first + static_cast<std::ptrdiff_t>(taken)));
    if (!fits(pattern->items[i], rest)) return false;
  }
  return true;
}

bool Evaluator::Matching::is_mapping(const MappingPattern* pattern, const Value& subject) {
  const bool is_one =
      in_.is_instance(subject, *in_.classes().dict) || is_marked(subject, "__is_mapping__");
  if (!is_one) return false;
  if (in_.length(subject) < static_cast<std::int64_t>(pattern->keys.size)) return false;
  std::vector<Value> keys;
  keys.reserve(pattern->keys.size);
  for (const Expr* key : pattern->keys) {
    keys.push_back(evaluator_.eval(key));
    frame_.at = key->place;
    for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
      if (in_.equal(keys[i], keys.back())) {
        in_.value_error(
            fmt::format("mapping pattern checks duplicate key ({})", in_.repr(keys.back())));
      }
    }
  }
  std::vector<Value> values;
  values.reserve(keys.size());
  for (const Value& key : keys) {
    if (!in_.contains(subject, key)) return false;
    values.push_back(in_.get_item(subject, key));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!fits(pattern->values[i], values[i])) return false;
  }
  if (pattern->rest == nullptr) return true;
  const Ref<Dict> rest = in_.dict();
  update_dict(in_, *rest, subject);
  for (const Value& key : keys) rest->table.remove(in_, key);
  captures_.push_back({pattern->rest, rest});
  return true;
}

bool Evaluator::Matching::attribute_fits(const Value& subject, Name name, const Pattern* pattern) {
  const Value value = in_.find_attr(subject, name);
  return !value.empty() && fits(pattern, value);
}

bool Evaluator::Matching::is_object(const ClassPattern* pattern, const Value& subject) {
  const Value type = evaluator_.eval(pattern->type);
  frame_.at = pattern->place;
  const bool stands_for_class =
      type.as<Instance>() != nullptr &&
      in_.type_of(type)->lookup(in_.intern("__instancecheck__")) != nullptr;
  if (type.as<ClassObject>() == nullptr && !stands_for_class)
    in_.type_error("called match pattern must be a type");
  if (!is_instance_of(in_, *in_.type_of(subject), subject, type, "isinstance")) return false;
  const std::size_t count = pattern->positional.size;
  if (count > 0) {
    const Value names = in_.find_attr(type, in_.intern("__match_args__"));
    const auto too_many = [&](std::size_t allowed) {
      in_.type_error(fmt::format("{}() accepts {} positional sub-pattern{} ({} given)",
                                 in_.callable_name(type), allowed, allowed == 1 ? "" : "s", count));
    };
    if (names.empty()) {
      // The built-in types stand for the object itself.
      const auto* wanted = type.as<ClassObject>();
      const BuiltinClasses& known_types = in_.classes();
      bool is_whole = false;
      for (const Ref<ClassObject>* each :
           {&known_types.boolean, &known_types.dict, &known_types.frozenset, &known_types.integer,
            &known_types.list, &known_types.real, &known_types.set, &known_types.str,
            &known_types.tuple}) {
        is_whole = is_whole || (wanted != nullptr && wanted->derives_from(**each));
      }
      if (!is_whole) too_many(0);
      if (count > 1) too_many(1);
      if (!fits(pattern->positional[0], subject)) return false;
    } else {
      const Tuple* fields = names.as<Tuple>();
      if (fields == nullptr) {
        in_.type_error(fmt::format("{}.__match_args__ must be a tuple (got {})",
                                   in_.callable_name(type), in_.type_name(names)));
      }
      if (count > fields->items.size()) too_many(fields->items.size());
      for (std::size_t i = 0; i < count; ++i) {
        const Str* name = fields->items[i].as<Str>();
        if (name == nullptr) {
          in_.type_error(fmt::format("__match_args__ elements must be strings (got {})",
                                     in_.type_name(fields->items[i])));
        }
        const Name id = in_.intern(name->text());
        for (const Name named : pattern->names) {
          if (named == id) {
            in_.type_error(fmt::format("{}() got multiple sub-patterns for attribute '{}'",
                                       in_.callable_name(type), name->text()));
          }
        }
        if (!attribute_fits(subject, id, pattern->positional[i])) return false;
      }
    }
  }
  for (std::size_t i = 0; i < pattern->names.size; ++i) {
    if (!attribute_fits(subject, pattern->names[i], pattern->named[i])) return false;
  }
  return true;
}

bool Evaluator::Matching::is_either(const OrPattern* pattern, const Value& subject) {
  const std::size_t before = captures_.size();
  for (const Pattern* choice : pattern->choices) {
    if (fits(choice, subject)) return true;
    while (captures_.size() > before) captures_.pop_back();
  }
  return false;
}

Seq<Stmt*> Evaluator::chosen_case(const MatchStmt* node) {
  Value subject = eval(node->subject);
  const std::size_t count = node->cases.size;
  const auto is_wildcard = [](const MatchCase& one) {
    if (one.pattern->kind != PatternKind::kCapture) return false;
    const auto* capture = static_cast<const CapturePattern*>(one.pattern);
    return capture->inner == nullptr && capture->target == nullptr;
  };
  // The last case that looks at the subject lets go of it before its names are bound; a closing
  // `case _` does not look.
  const bool has_default = count > 1 && is_wildcard(node->cases[count - 1]);
  const std::size_t last = count - (has_default ? 2 : 1);
  Matching matching(*this, in_, frame_);
  for (std::size_t i = 0; i < count; ++i) {
    const MatchCase& each = node->cases[i];
    if (i <= last) {
      const bool fits = matching.fits(each.pattern, subject);
      if (i == last) subject.reset();
      if (!fits) {
        matching.forget();
        continue;
      }
      matching.bind();
    }
    if (each.guard != nullptr) {
      const Value allowed = eval(each.guard);
      frame_.at = each.guard->place;
      if (!in_.truth(allowed)) continue;
    }
    return each.body;
  }
  return {};
}

}  // namespace tidemark::lang
