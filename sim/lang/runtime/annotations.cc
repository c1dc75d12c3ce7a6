#include "sim/lang/runtime/annotations.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/syntax/parser.h"

namespace tidemark::lang {

LateAnnotations::LateAnnotations(Interp& interp, const Frame& body)
    : Instance(interp.heap(), interp.classes().object, Kind::kInstance, kHostKind),
      code(shared_code(*body.code)),
      globals(body.globals),
      closure(*body.closure) {}

void LateAnnotations::traverse(Visitor& visitor) const {
  Instance::traverse(visitor);
  visitor.visit(globals);
  for (const Ref<Cell>& cell : closure) visitor.visit(cell);
  visitor.visit(owner);
}
void LateAnnotations::clear() {
  Instance::clear();
  rows.clear();
  closure.clear();
  owner.reset();
}

namespace {

std::string source_text(const Code& code, Place place) {
  return std::string(view(code.file->text).substr(place.begin, place.end - place.begin));
}

/// Expressions of the kinds that annotations are made of, as ast.unparse writes them.
class Writer {
 public:
  explicit Writer(Interp& in) : in_(in) {}

  /// False: it has a part of another kind.
  bool add(const Expr& node) {
    switch (node.kind) {
      case ExprKind::kName:
        out += in_.text(static_cast<const NameExpr&>(node).name);
        return true;
      case ExprKind::kConstant: {
        const Literal& literal = static_cast<const ConstantExpr&>(node).literal;
        out += literal.kind == Literal::Kind::kEllipsis ? "..." : in_.repr(in_.constant(literal));
        return true;
      }
      case ExprKind::kAttribute: {
        const auto& attribute = static_cast<const AttributeExpr&>(node);
        if (!add(*attribute.object)) return false;
        out += '.';
        out += in_.text(attribute.name);
        return true;
      }
      case ExprKind::kSubscript: {
        const auto& subscript = static_cast<const SubscriptExpr&>(node);
        if (!add(*subscript.object)) return false;
        out += '[';
        const auto* items = subscript.index->kind == ExprKind::kTuple
                                ? static_cast<const SequenceExpr*>(subscript.index)
                                : nullptr;
        const bool bare = items != nullptr && items->items.size > 0;
        if (!(bare ? add_all(*items) : add(*subscript.index))) return false;
        if (bare && items->items.size == 1) out += ',';
        out += ']';
        return true;
      }
      case ExprKind::kList:
      case ExprKind::kTuple: {
        const auto& sequence = static_cast<const SequenceExpr&>(node);
        const bool is_list = node.kind == ExprKind::kList;
        out += is_list ? '[' : '(';
        if (!add_all(sequence)) return false;
        if (!is_list && sequence.items.size == 1) out += ',';
        out += is_list ? ']' : ')';
        return true;
      }
      case ExprKind::kBinary: {
        const auto& binary = static_cast<const BinaryExpr&>(node);
        if (binary.op != BinaryOp::kOr || binary.right->kind == ExprKind::kBinary) return false;
        if (!add(*binary.left)) return false;
        out += " | ";
        return add(*binary.right);
      }
      default:
        return false;
    }
  }

  std::string out;

 private:
  bool add_all(const SequenceExpr& sequence) {
    for (std::uint32_t i = 0; i < sequence.items.size; ++i) {
      if (i > 0) out += ", ";
      if (!add(*sequence.items[i])) return false;
    }
    return true;
  }

  Interp& in_;
};

Value written(Interp& in, const Expr& node, const std::string& source) {
  Writer writer(in);
  return in.str(writer.add(node) ? writer.out : source);
}

/// Runs the expressions of annotations where their class's body ran.
class ClassScene {
 public:
  ClassScene(Interp& in, LateAnnotations& late, AttrMap& names)
      : in_(in), slots_(late.code->slots.size) {
    Evaluator::make_cells(in, *late.code, slots_.data());
    frame_.code = late.code.get();
    frame_.slots = slots_.data();
    frame_.globals = late.globals.get();
    frame_.closure = &late.closure;
    frame_.class_namespace = &names;
    frame_.at = late.code->place;
  }

  Value eval(const Expr* annotation) {
    const CallDepth depth(in_, &frame_);
    Evaluator evaluator(in_, frame_);
    try {
      return evaluator.eval(annotation);
    } catch (Raised& raised) {
      evaluator.trace(*raised.exception);
      throw;
    }
  }

 private:
  Interp& in_;
  std::vector<Value> slots_;
  Frame frame_;
};

LateAnnotations* late_of(const Value& held) {
  const auto* dict = held.as<Dict>();
  return dict == nullptr ? nullptr : dict->default_factory.as<LateAnnotations>();
}

/// Classes of typing make a reference of a text: NamedTuple, and TypedDict, which names its module.
Value as_reference(Interp& in, const LateAnnotations& late, Value value) {
  if (!late.owner || value.as<Str>() == nullptr) return value;
  const bool is_named_tuple =
      !late.owner->user_defined && late.owner->attrs.find(in.intern("_fields")) != nullptr;
  const bool is_typed_dict = late.owner->lookup(in.intern("__required_keys__")) != nullptr;
  if (!is_named_tuple && !is_typed_dict) return value;
  std::vector<Value> given = {std::move(value)};
  if (is_typed_dict)
    given.insert(given.end(), {Value::boolean(true), in.str(late.owner->module())});
  return in.call(in.get_attr(in.import("typing"), in.intern("ForwardRef")), std::move(given));
}

/// Calls `use` with each name in a text of Python; those behind a dot are none, nor what quotes
/// hold.
template <class Use>
void each_name(std::string_view text, const Use& use) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
  };
  char quote = 0;
  char before = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    std::size_t end = i + 1;
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (is_word(c)) {
      while (end < text.size() && is_word(text[end])) ++end;
      if (before != '.') use(text.substr(i, end - i));
    }
    if (c != ' ') before = c;
    i = end;
  }
}

void settle(Interp& in, const Value& held, const std::vector<AnnotatedName>& rows, AttrMap* names) {
  const Ref<LateAnnotations> late(late_of(held));
  AttrMap none;
  if (names == nullptr) names = late->owner ? &late->owner->attrs : &none;
  const bool texts = asks_for_texts(in, *late->code);
  ClassScene scene(in, *late, *names);
  for (const AnnotatedName& row : rows) {
    Value value =
        texts ? written(in, *row.annotation, source_text(*late->code, row.annotation->place))
              : scene.eval(row.annotation);
    held.as<Dict>()->table.set(in, in.str(std::string(in.text(row.name))),
                               as_reference(in, *late, std::move(value)));
    std::erase_if(late->rows, [&](const AnnotatedName& each) { return each.name == row.name; });
  }
  if (late->rows.empty()) held.as<Dict>()->default_factory.reset();
}

}  // namespace

Ref<Dict> late_annotations(Interp& in, const Frame& body, const std::vector<AnnotatedName>& rows) {
  Ref<Dict> dict = in.dict();
  Ref<LateAnnotations> late = make_ref<LateAnnotations>(in, body);
  for (const AnnotatedName& row : rows) {
    dict->table.set(in, in.str(std::string(in.text(row.name))),
                    in.str(source_text(*body.code, row.annotation->place)));
    std::erase_if(late->rows, [&](const AnnotatedName& each) { return each.name == row.name; });
    late->rows.push_back(row);
  }
  dict->default_factory = Value(std::move(late));
  return dict;
}

void keep_local_names(Interp& in, const Frame& frame, Function& function) {
  const Parameters& all = *function.code->parameters;
  Ref<Dict> kept;
  const auto keep = [&](std::string_view word) {
    Name name{};
    if (!in.names().find(word, &name)) return;
    const Code& code = *frame.code;
    Value value;
    if (const auto* slot = std::find(code.slots.begin(), code.slots.end(), name);
        slot != code.slots.end()) {
      value = frame.slots[slot - code.slots.begin()];
    } else if (const auto* free = std::find(code.frees.begin(), code.frees.end(), name);
               free != code.frees.end()) {
      value = (*frame.closure)[static_cast<std::size_t>(free - code.frees.begin())];
    }
    if (const auto* cell = value.as<Cell>()) value = Value(cell->value);
    if (value.empty()) return;
    if (!kept) kept = in.dict();
    kept->table.set(in, in.str(std::string(word)), std::move(value));
  };
  const std::string_view text = view(function.code->file->text);
  const auto read = [&](Place place) {
    if (place.end != place.begin)
      each_name(text.substr(place.begin, place.end - place.begin), keep);
  };
  for (const Parameter& each : all.positional) read(each.annotation);
  for (const Parameter& each : all.keyword_only) read(each.annotation);
  read(all.star_annotation);
  read(all.double_star_annotation);
  read(function.code->returns);
  if (kept) function.attrs.set(in.intern(kLocalNames), Value(std::move(kept)));
}

void own_annotations(ClassObject& type) {
  const Value* held = type.attrs.find(known(name::kAnnotations));
  LateAnnotations* late = held == nullptr ? nullptr : late_of(*held);
  if (late != nullptr) late->owner = Ref<ClassObject>(&type);
}

void settle_annotations(Interp& in, const Value& held, AttrMap* names) {
  const LateAnnotations* late = late_of(held);
  if (late == nullptr) return;
  const Value keep = held;
  const std::vector<AnnotatedName> rows = late->rows;
  settle(in, keep, rows, names);
}

Value annotation_of(Interp& in, ClassObject& type, Name name) {
  const Value* held = type.attrs.find(known(name::kAnnotations));
  if (held == nullptr || held->as<Dict>() == nullptr) return {};
  const Value keep = *held;
  if (const LateAnnotations* late = late_of(keep)) {
    const auto row = std::ranges::find(late->rows, name, &AnnotatedName::name);
    if (row != late->rows.end()) settle(in, keep, {*row}, nullptr);
  }
  const Value* found = keep.as<Dict>()->table.find(in, in.str(std::string(in.text(name))));
  return found == nullptr ? Value() : *found;
}

Value annotations_of(Interp& in, ClassObject& type) {
  if (const Value* held = type.attrs.find(known(name::kAnnotations))) {
    Value keep = *held;
    settle_annotations(in, keep);
    return keep;
  }
  if (!type.user_defined) return type.module() == "builtins" ? Value() : Value(in.dict());
  Value made = in.dict();
  type.attrs.set(known(name::kAnnotations), made);
  return made;
}

bool asks_for_texts(Interp& in, const Code& code) {
  if (code.file == nullptr || code.file->tree == nullptr) return false;
  for (const Stmt* statement : code.file->tree->body) {
    if (statement->kind == StmtKind::kExpr) continue;
    if (statement->kind != StmtKind::kImportFrom) return false;
    const auto* import = static_cast<const ImportFromStmt*>(statement);
    if (in.text(import->module) != "__future__") return false;
    for (const ImportedName& each : import->names) {
      if (in.text(each.name) == "annotations") return true;
    }
  }
  return false;
}

Value written_annotation(Interp& in, const std::string& text) {
  std::vector<Problem> problems;
  const std::shared_ptr<SyntaxTree> tree = parse_expression(
      std::make_shared<const SourceText>(SourceText{"<annotation>", text}), in.names(), problems);
  if (!problems.empty() || tree == nullptr || tree->expression == nullptr) return in.str(text);
  return written(in, *tree->expression, text);
}

}  // namespace tidemark::lang
