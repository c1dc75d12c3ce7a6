#include "sim/lang/runtime/interp.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "sim/base/budget.h"
#include "sim/base/check.h"
#include "sim/base/stack.h"
#include "sim/lang/imports/library_index.h"
#include "sim/lang/runtime/docstring.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/function_body.h"
#include "sim/lang/runtime/library_loader.h"
#include "sim/lang/syntax/parser.h"

namespace tidemark::lang {

Interp::Interp(Options options)
    : options_(std::move(options)),
      names_(options_.imports.library.names),
      heap_(make_ref<Heap>()),
      classes_(std::make_unique<BuiltinClasses>()),
      values_(std::make_unique<ValueStack>()) {
  make_builtin_classes();
  importer_ = std::make_unique<Importer>(*this, options_.imports);
}

Interp::~Interp() {
  is_ending_ = true;
  to_finalize_.clear();
  handled_.reset();
  importer_->clear();
  builtins_.clear();
  heap_->collect();
  importer_.reset();
  classes_.reset();
  heap_->collect();
}

void Interp::guard(const std::function<void()>& body) {
  if (stack_base_ != 0) {  // within a program already: exceptions are the program's
    body();
    return;
  }
  const auto leave = [&] { stack_base_ = stack_end_ = 0; };
  const MemoryWatch memory(out_of_memory, this);
  stack_base_ = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  stack_end_ = stack_base_ - std::min(options_.limits.stack_bytes, stack_below(stack_base_));
  try {
    body();
    leave();
  } catch (Raised& raised) {
    const Ref<ExceptionObject> exception = std::move(raised.exception);
    UncaughtException error = uncaught(*exception);
    if (options_.ends_uncaught) options_.ends_uncaught();
    leave();
    throw error;
  } catch (const std::bad_alloc&) {
    leave();
    throw InputError(Problem{{}, {}, "the host has too little memory for this program", {}});
  } catch (...) {
    leave();
    throw;
  }
}

namespace {

GlobalSlot slots_of(Module& module) {
  return [&module](Name name) { return module.slot(name); };
}

/// `parse` makes the tree and appends what is wrong.
template <class Parse>
std::shared_ptr<SyntaxTree> prepared(Interp& in, Module& module, const Parse& parse) {
  std::vector<Problem> problems;
  std::shared_ptr<SyntaxTree> tree = parse(problems);
  if (problems.empty()) resolve(*tree, in.names(), slots_of(module), problems);
  if (!problems.empty()) throw InputError(std::move(problems));
  return tree;
}

}  // namespace

std::shared_ptr<SyntaxTree> Interp::prepared_file(Module& module,
                                                  std::shared_ptr<const SourceText> source) {
  // What is wrong in the user's own text is told at once; an installed package has been tried.
  const Bodies bodies =
      module.origin == Module::Origin::kInstalled ? Bodies::kWhenCalled : Bodies::kAtOnce;
  return prepared(*this, module, [&](std::vector<Problem>& problems) {
    return parse_module(std::move(source), names(), problems, bodies);
  });
}

Value docstring(Interp& in, const Code& function) {
  if (!is_unread(function)) return docstring(in, function.body);
  const Place lines = function.body.data[0]->place;
  const std::string_view first =
      first_line_of_code(view(function.file->text).substr(lines.begin, lines.end - lines.begin));
  if (first.substr(0, 3).find_first_of("'\"") == std::string_view::npos) return Value::none();
  std::vector<Problem> problems;
  const auto tree = parse_expression(
      std::make_shared<const SourceText>(SourceText{"<docstring>", std::string(first)}), in.names(),
      problems);
  if (!problems.empty() || tree->expression == nullptr ||
      tree->expression->kind != ExprKind::kConstant)
    return Value::none();
  const Literal& literal = static_cast<const ConstantExpr*>(tree->expression)->literal;
  return literal.kind == Literal::Kind::kText ? in.constant(literal) : Value::none();
}

void read_unread_body(Interp& in, const Code& function, Module& globals) {
  std::vector<Problem> problems;
  // An unread body is one of a tree in memory, which is no constant.
  read_body(const_cast<Code&>(function), in.names(), slots_of(globals), problems);
  if (!problems.empty()) throw InputError(std::move(problems));
}

void Interp::run_file(Module& module, std::shared_ptr<const SourceText> source) {
  const std::shared_ptr<SyntaxTree> tree = prepared_file(module, std::move(source));
  module.set(known(name::kDoc), docstring(*this, tree->body));
  Evaluator::run_module_body(*this, module, tree);
}

Ref<Module> Interp::run(std::shared_ptr<const SourceText> source, std::string_view name) {
  Ref<Module> module;
  guard([&] { module = importer_->run_text(std::move(source), std::string(name)); });
  return module;
}

void Interp::run_in(Module& module, std::shared_ptr<const SourceText> source) {
  guard([&] {
    const std::shared_ptr<SyntaxTree> tree = prepared_file(module, std::move(source));
    Evaluator::run_module_body(*this, module, tree);
  });
}

void Interp::run_part(Module& module, const Code& code, const Seq<Stmt*>& statements) {
  guard([&] { Evaluator::run_statements(*this, module, code, statements); });
}

Value Interp::evaluate(Module& module, std::shared_ptr<const SourceText> source) {
  Value out;
  guard([&] {
    const std::shared_ptr<SyntaxTree> tree =
        prepared(*this, module, [&](std::vector<Problem>& problems) {
          return parse_expression(std::move(source), names(), problems);
        });
    out = Evaluator::run_expression(*this, module, tree);
  });
  return out;
}

Ref<Module> Interp::import(std::string_view name) {
  Ref<Module> module = importer_->import(name).ref<Module>();
  TIDEMARK_CHECK(module, std::string(name) + " is no module");
  return module;
}

void Interp::set_builtin(Name name, Value value) {
  const auto index = static_cast<std::size_t>(name);
  if (index >= builtins_.size()) builtins_.resize(std::max(index + 1, builtins_.size() * 2));
  builtins_[index] = std::move(value);
}

const Value* Interp::find_builtin(Name name) const {
  const auto index = static_cast<std::size_t>(name);
  if (index >= builtins_.size() || builtins_[index].empty()) return nullptr;
  return &builtins_[index];
}

Value Interp::constant(const Literal& literal) {
  switch (literal.kind) {
    case Literal::Kind::kNone:
      break;
    case Literal::Kind::kEllipsis:
      return Value::ellipsis();
    case Literal::Kind::kBool:
      return Value::boolean(literal.integer() != 0);
    case Literal::Kind::kInt:
      return Value::integer(literal.integer());
    case Literal::Kind::kFloat:
      return Value::real(literal.real());
    case Literal::Kind::kText:
      return text_value(literal.text());
  }
  return Value::none();
}

const Value& Interp::text_value(Name text) {
  const auto index = static_cast<std::size_t>(text);
  const std::size_t page = index / kTextsOfPage;
  if (page >= texts_.size()) texts_.resize(names_.size() / kTextsOfPage + 1);
  if (texts_[page] == nullptr) texts_[page] = std::make_unique<std::array<Value, kTextsOfPage>>();
  Value& value = (*texts_[page])[index % kTextsOfPage];
  if (value.empty()) value = make_ref<Str>(std::string(names_.text(text)));
  return value;
}

std::uint64_t Interp::identity(const Value& value) {
  if (!value.is_object()) return hash(value) | 1U;
  return identities_.try_emplace(value.object(), (identities_.size() + 1) * 16).first->second;
}

Value Interp::function(std::string_view signature, HostFunction body) {
  return make_ref<Builtin>(heap(), intern(function_name(signature)), signature, std::move(body));
}

Value Interp::raw_function(std::string_view name, RawFunction body) {
  return make_ref<Builtin>(heap(), intern(name), std::move(body));
}

}  // namespace tidemark::lang
