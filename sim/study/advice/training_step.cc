#include "sim/study/advice/training_step.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "sim/study/advice/call_edits.h"

namespace tidemark {
namespace {

using lang::AssignStmt;
using lang::AttributeExpr;
using lang::Block;
using lang::CallExpr;
using lang::Edit;
using lang::Expr;
using lang::ExprKind;
using lang::ExprStmt;
using lang::ForStmt;
using lang::Name;
using lang::NameExpr;
using lang::NamesUsed;
using lang::Place;
using lang::Stmt;
using lang::StmtKind;
using lang::UserCode;

/// The object and the name of `object.name(...)`; null: a call of another kind.
const AttributeExpr* method_of(const Expr& node) {
  if (node.kind != ExprKind::kCall) return nullptr;
  const Expr* callee = static_cast<const CallExpr&>(node).callee;
  return callee->kind == ExprKind::kAttribute ? static_cast<const AttributeExpr*>(callee) : nullptr;
}

/// The loss of `loss.backward()`, `scaler.scale(loss).backward()`, `accelerator.backward(loss)`.
const Expr* loss_of(const UserCode& code, const Stmt& statement) {
  if (statement.kind != StmtKind::kExpr) return nullptr;
  const Expr& value = *static_cast<const ExprStmt&>(statement).value;
  const AttributeExpr* method = method_of(value);
  if (method == nullptr || code.name(method->name) != "backward") return nullptr;
  const auto& call = static_cast<const CallExpr&>(value);
  if (code.path(*method->object) == "torch.autograd" || call.spread) return nullptr;
  if (!call.arguments.empty() && method->object->kind != ExprKind::kCall && call.keywords.empty() &&
      call.arguments.size == 1 && call.arguments[0]->kind == ExprKind::kName)
    return call.arguments[0];
  const AttributeExpr* scale = method_of(*method->object);
  const auto* scaled = scale == nullptr ? nullptr : static_cast<const CallExpr*>(method->object);
  if (scaled != nullptr && code.name(scale->name) == "scale" && scaled->arguments.size == 1)
    return scaled->arguments[0];
  return method->object;
}

bool is_scope(const Stmt* owner) {
  return owner == nullptr || owner->kind == StmtKind::kFunction ||
         owner->kind == StmtKind::kClass || owner->kind == StmtKind::kFor ||
         owner->kind == StmtKind::kWhile;
}

bool meet(const std::set<Name>& a, const std::set<Name>& b) {
  return std::any_of(a.begin(), a.end(), [&](Name name) { return b.count(name) > 0; });
}

/// Of the statements before `last` those that the loss rests on: where the first of them uses a
/// model. std::nullopt: none of them does anything for it.
std::optional<std::size_t> forward_begin(const UserCode& code, const lang::Seq<Stmt*>& body,
                                         std::size_t last, const Expr& loss,
                                         const std::set<std::string>& models) {
  std::set<Name> needed = names_used(loss).read;
  std::optional<std::size_t> nearest;
  std::optional<std::size_t> with_call;  // of something by its plain name, as models are called
  std::optional<std::size_t> with_model;
  for (std::size_t i = last; i-- > 0;) {
    const NamesUsed used = names_used(*body[i]);
    if (!meet(used.bound, needed)) continue;
    needed.insert(used.read.begin(), used.read.end());
    if (!nearest) nearest = i;
    const Place lines = lines_of(code, *body[i], *body[i]);
    const bool calls_model =
        std::any_of(code.expressions().begin(), code.expressions().end(), [&](const Expr* node) {
          if (!within(node->place, lines)) return false;
          return node->kind == ExprKind::kCall && lang::contains(*node, [&](const Expr& part) {
                   return (part.kind == ExprKind::kName || part.kind == ExprKind::kAttribute) &&
                          models.count(std::string(code.text(part))) > 0;
                 });
        });
    const bool calls_name =
        std::any_of(code.expressions().begin(), code.expressions().end(), [&](const Expr* node) {
          return node->kind == ExprKind::kCall && within(node->place, lines) &&
                 static_cast<const CallExpr*>(node)->callee->kind == ExprKind::kName;
        });
    if (calls_name) with_call = i;
    const bool makes_model = std::any_of(used.bound.begin(), used.bound.end(), [&](Name name) {
      return models.count(std::string(code.name(name))) > 0;
    });
    if (calls_model && !makes_model) with_model = i;
  }
  return with_model ? with_model : with_call ? with_call : nearest;
}

/// A step within the innermost loop, function or module that has its forward pass.
std::optional<TrainingStep> step_at(const UserFile& file, const std::vector<Block>& blocks,
                                    std::size_t block, std::size_t at, const Expr& loss,
                                    const std::set<std::string>& models) {
  const UserCode& code = *file.code;
  const auto around = [&](std::size_t from) {
    while (!is_scope(blocks[from].owner)) from = blocks[from].around;
    return blocks[from].owner;
  };
  for (;;) {
    const Block& here = blocks[block];
    const auto first = forward_begin(code, here.body, at, loss, models);
    if (first || is_scope(here.owner)) {
      if (!first && loss.kind == ExprKind::kName) return std::nullopt;
      for (std::size_t i = first.value_or(at); i <= at; ++i) {
        if (!stands_alone(code, *here.body[i])) return std::nullopt;
      }
      return TrainingStep{&file, here.body, first.value_or(at), at, {&loss}, around(block)};
    }
    at = here.at;
    block = here.around;
  }
}

}  // namespace

namespace {

/// A trainer of a library, by what it is called, and the model that it is given.
struct Trained {
  std::string trainer;
  std::string model;
};
std::vector<Trained> trained_models(const UserFile& file) {
  std::vector<Trained> out;
  const UserCode& code = *file.code;
  for (const Stmt* statement : code.statements()) {
    if (statement->kind != StmtKind::kAssign) continue;
    const auto& assigned = static_cast<const AssignStmt&>(*statement);
    if (assigned.value->kind != ExprKind::kCall || assigned.targets.size != 1) continue;
    const auto& call = static_cast<const CallExpr&>(*assigned.value);
    const std::string path = code.path(*call.callee);
    if (!path.ends_with("Trainer")) continue;
    const Expr* model = keyword_of(code, call, "model");
    if (model == nullptr && !call.arguments.empty()) model = call.arguments[0];
    const bool is_named =
        model != nullptr && (model->kind == ExprKind::kName || model->kind == ExprKind::kAttribute);
    out.push_back({std::string(code.text(*assigned.targets[0])),
                   is_named ? std::string(code.text(*model)) : std::string()});
  }
  return out;
}

}  // namespace

std::set<std::string> model_names(const std::vector<UserFile>& files) {
  constexpr std::array<std::string_view, 4> kMethods{"parameters", "named_parameters", "train",
                                                     "eval"};
  std::set<std::string> models;
  std::set<std::string> trainers;
  for (const UserFile& file : files) {
    for (Trained& each : trained_models(file)) {
      if (!each.model.empty()) models.insert(std::move(each.model));
      trainers.insert(std::move(each.trainer));
    }
  }
  for (const UserFile& file : files) {
    for (const Expr* node : file.code->expressions()) {
      const AttributeExpr* method = method_of(*node);
      if (method == nullptr) continue;
      const std::string_view name = file.code->name(method->name);
      if (std::find(kMethods.begin(), kMethods.end(), name) == kMethods.end()) continue;
      const std::string object(file.code->text(*method->object));
      if (object != "self" && trainers.count(object) == 0 &&
          !file.code->path(*method->object).empty())
        models.insert(object);
    }
  }
  for (const UserFile& file : files) {
    for (const Stmt* statement : file.code->statements()) {
      if (statement->kind != StmtKind::kAssign) continue;
      const auto& assigned = static_cast<const AssignStmt&>(*statement);
      if (assigned.value->kind != ExprKind::kCall || assigned.targets.size != 1) continue;
      const auto& call = static_cast<const CallExpr&>(*assigned.value);
      const std::string path = file.code->path(*call.callee);
      const bool wraps = path == "torch.compile" || path.ends_with("DataParallel");
      if (!wraps || call.arguments.empty()) continue;
      std::string inner(file.code->text(*call.arguments[0]));
      std::string outer(file.code->text(*assigned.targets[0]));
      if (models.count(inner) + models.count(outer) == 0) continue;
      models.insert(std::move(inner));
      models.insert(std::move(outer));
    }
  }
  return models;
}

std::vector<TrainingStep> training_steps(const std::vector<UserFile>& files) {
  const std::set<std::string> models = model_names(files);
  std::vector<TrainingStep> steps;
  for (const UserFile& file : files) {
    const std::vector<Block> blocks = blocks_of(*file.code);
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      for (std::size_t at = 0; at < blocks[block].body.size; ++at) {
        const Expr* loss = loss_of(*file.code, *blocks[block].body[at]);
        if (loss == nullptr) continue;
        std::optional<TrainingStep> step = step_at(file, blocks, block, at, *loss, models);
        if (!step) continue;
        const auto same = std::find_if(steps.begin(), steps.end(), [&](const TrainingStep& one) {
          return one.body.data == step->body.data && one.last == step->last;
        });
        if (same == steps.end()) {
          steps.push_back(std::move(*step));
        } else {
          same->first = std::min(same->first, step->first);
          same->losses.push_back(loss);
        }
      }
    }
  }
  return steps;
}

std::vector<FileEdits> forwards_within(const std::vector<UserFile>& files, std::string_view header,
                                       std::string_view import) {
  std::vector<FileEdits> all;
  all.reserve(files.size());
  for (const UserFile& file : files) all.push_back({&file, {}});
  for (const TrainingStep& step : training_steps(files)) {
    const UserCode& code = *step.file->code;
    std::vector<Edit>& edits = all[static_cast<std::size_t>(step.file - files.data())].edits;
    const Stmt& first = *step.body[step.first];
    const std::string indent = indent_of(code, first);
    if (step.first < step.last) {
      const Place lines = lines_of(code, first, *step.body[step.last - 1]);
      // Two backward passes may share a forward one.
      const bool is_done = std::any_of(edits.begin(), edits.end(), [&](const Edit& edit) {
        return edit.at.begin >= lines.begin && edit.at.begin < lines.end;
      });
      if (is_done) continue;
      edits.push_back({{lines.begin, lines.begin}, fmt::format("{}with {}:\n", indent, header)});
      for (Edit& edit : indented(code, lines)) edits.push_back(std::move(edit));
    } else {
      const Expr& loss = *step.losses.front();
      const std::string name = code.mentions("loss") ? "step_loss" : "loss";
      const Place lines = lines_of(code, first, first);
      const Place at = code.extent(loss);
      edits.push_back(
          {{lines.begin, lines.begin},
           fmt::format("{0}with {1}:\n{0}    {2} = {3}\n", indent, header, name, code.text(at))});
      edits.push_back({at, name});
    }
  }
  for (FileEdits& each : all) {
    if (each.edits.empty() || import.empty()) continue;
    for (Edit& edit : with_import(*each.file->code, import)) each.edits.push_back(std::move(edit));
  }
  return all;
}

namespace {

/// How the names that a step reads are used in it, and where they come from.
class BatchFinder {
 public:
  BatchFinder(const TrainingStep& step, Place lines, const std::set<std::string>& models)
      : code_(*step.file->code), step_(step), lines_(lines) {
    for (const std::string& model : models) exclude(model);
    for (const auto& [name, path] : code_.imports()) exclude(name);
    look_at_uses();
    look_at_bindings();
  }

  enum class Form { kTensor, kDict, kTuple };
  struct Part {
    Name name;
    Form form;
    bool is_of_the_turn;  ///< bound anew before each step
  };

  std::vector<Part> parts() const {
    std::vector<Part> out;
    std::set<Name> bound;
    for (std::size_t i = step_.first; i <= step_.last; ++i) {
      const NamesUsed used = names_used(*step_.body[i]);
      for (const Name name : used.read) {
        const bool is_taken = bound.count(name) == 0 && excluded_.count(name) == 0 &&
                              known_.count(name) > 0 && used_.count(name) > 0;
        if (!is_taken) continue;
        const Form form = dicts_.count(name) > 0    ? Form::kDict
                          : tuples_.count(name) > 0 ? Form::kTuple
                                                    : Form::kTensor;
        if (std::none_of(out.begin(), out.end(), [&](const Part& p) { return p.name == name; }))
          out.push_back({name, form, fresh_.count(name) > 0});
      }
      bound.insert(used.bound.begin(), used.bound.end());
    }
    return out;
  }

 private:
  void exclude(const std::string& name) {
    for (const Expr* node : code_.expressions()) {
      if (node->kind != ExprKind::kName) continue;
      const Name id = static_cast<const NameExpr*>(node)->name;
      if (code_.name(id) == name) excluded_.insert(id);
    }
  }
  static std::optional<Name> as_name(const Expr& node) {
    if (node.kind != ExprKind::kName) return std::nullopt;
    return static_cast<const NameExpr&>(node).name;
  }

  void look_at_uses() {
    for (const Expr* node : code_.expressions()) {
      if (!within(node->place, lines_)) continue;
      if (node->kind == ExprKind::kCall) look_at_call(static_cast<const CallExpr&>(*node));
      if (node->kind == ExprKind::kSubscript)
        look_at_item(static_cast<const lang::SubscriptExpr&>(*node));
      if (node->kind == ExprKind::kAttribute) {
        const auto& attribute = static_cast<const AttributeExpr&>(*node);
        const auto object = as_name(*attribute.object);
        if (object && !is_callee(attribute)) attributes_.insert(*object);
      }
    }
    // Settings are read by their attributes; so are batches, which are passed on besides.
    for (const Name name : attributes_) {
      if (dicts_.count(name) == 0) excluded_.insert(name);
    }
  }

  bool is_callee(const AttributeExpr& attribute) const {
    return std::any_of(code_.expressions().begin(), code_.expressions().end(),
                       [&](const Expr* node) {
                         return node->kind == ExprKind::kCall &&
                                static_cast<const CallExpr*>(node)->callee == &attribute;
                       });
  }

  void look_at_call(const CallExpr& call) {
    if (const auto callee = as_name(*call.callee)) excluded_.insert(*callee);
    const AttributeExpr* method = method_of(call);
    const std::string_view called = method == nullptr ? "" : code_.name(method->name);
    const bool moves = called == "to" || called == "cuda";
    if (method != nullptr) {
      if (const auto object = as_name(*method->object)) {
        used_.insert(*object);
        if (called == "items" || called == "keys") dicts_.insert(*object);
        if (called == "zero_grad" || called == "step" || called == "scale" || called == "backward")
          excluded_.insert(*object);
      }
    }
    const auto pass = [&](const Expr& value) {
      if (const auto name = as_name(value)) (moves ? excluded_ : used_).insert(*name);
    };
    for (const Expr* argument : call.arguments) {
      if (argument->kind == ExprKind::kStarred) {
        const Expr& value = *static_cast<const lang::StarredExpr*>(argument)->value;
        if (const auto name = as_name(value)) tuples_.insert(*name), used_.insert(*name);
      } else {
        pass(*argument);
      }
    }
    for (const lang::Keyword& keyword : call.keywords) {
      const auto name = as_name(*keyword.value);
      if (keyword.spread && name) dicts_.insert(*name), used_.insert(*name);
      if (!keyword.spread) pass(*keyword.value);
    }
  }

  void look_at_item(const lang::SubscriptExpr& item) {
    const auto object = as_name(*item.object);
    if (!object) return;
    used_.insert(*object);
    if (item.index->kind != ExprKind::kConstant) return;
    using Written = lang::Literal::Kind;
    const Written kind = static_cast<const lang::ConstantExpr*>(item.index)->literal.kind;
    if (kind == Written::kText) dicts_.insert(*object);
    if (kind == Written::kInt) tuples_.insert(*object);
  }

  /// Names that hold what a batch is made of, and those that hold a number, a device or a module.
  void look_at_bindings() {
    const Stmt* function = function_of(lines_.begin);
    for (const Stmt* statement : code_.statements()) {
      const Stmt* own =
          statement->kind == StmtKind::kFunction ? statement : function_of(statement->place.begin);
      if (own != nullptr && own != function) continue;
      const bool is_in_turn = step_.around != nullptr && statement != step_.around &&
                              within(statement->place, whole_of(*step_.around)) &&
                              statement->place.begin < lines_.begin;
      if (statement->kind == StmtKind::kAssign) {
        const auto& assigned = static_cast<const AssignStmt&>(*statement);
        for (const Expr* target : assigned.targets) bind(*target, assigned.value, is_in_turn);
      } else if (statement->kind == StmtKind::kFor) {
        const auto& loop = static_cast<const ForStmt&>(*statement);
        bind_turn(loop, statement == step_.around || is_in_turn);
      } else if (statement->kind == StmtKind::kFunction) {
        const auto& parameters =
            *static_cast<const lang::FunctionStmt*>(statement)->function->parameters;
        for (const lang::Parameter& each : parameters.positional)
          bind(*each.name, each.fallback, statement == step_.around);
      }
    }
  }

  /// The innermost function around a place; null: the module.
  const Stmt* function_of(std::uint32_t at) const {
    const Stmt* innermost = nullptr;
    for (const Stmt* statement : code_.statements()) {
      if (statement->place.begin >= at) break;
      if (statement->kind == StmtKind::kFunction && whole_of(*statement).end > at)
        innermost = statement;
    }
    return innermost;
  }

  Place whole_of(const Stmt& statement) const { return lines_of(code_, statement, statement); }

  void bind_turn(const ForStmt& loop, bool is_in_turn) {
    const Expr* target = loop.target;
    if (loop.iterable->kind == ExprKind::kCall) {
      const std::string path = code_.path(*static_cast<const CallExpr*>(loop.iterable)->callee);
      if (path == "range") return;
      if (path == "enumerate" && target->kind == ExprKind::kTuple) {
        const auto& items = static_cast<const lang::SequenceExpr*>(target)->items;
        if (items.size == 2) target = items[1];
      }
    }
    bind(*target, nullptr, is_in_turn);
  }

  void bind(const Expr& target, const Expr* value, bool is_in_turn) {
    if (target.kind == ExprKind::kTuple || target.kind == ExprKind::kList) {
      const auto& items = static_cast<const lang::SequenceExpr&>(target).items;
      // `a, b = 1, 2`
      const bool is_parted =
          value != nullptr && value->kind == ExprKind::kTuple &&
          static_cast<const lang::SequenceExpr*>(value)->items.size == items.size;
      for (std::size_t i = 0; i < items.size; ++i) {
        bind(*items[i],
             is_parted ? static_cast<const lang::SequenceExpr*>(value)->items[i] : nullptr,
             is_in_turn);
      }
      return;
    }
    const auto name = as_name(target);
    if (!name) return;
    known_.insert(*name);
    if (is_in_turn) fresh_.insert(*name);
    if (value == nullptr) return;
    if (value->kind == ExprKind::kConstant || value->kind == ExprKind::kConditional) {
      excluded_.insert(*name);
    } else if (value->kind == ExprKind::kCall) {
      const std::string path = code_.path(*static_cast<const CallExpr*>(value)->callee);
      for (const std::string_view begin : {"torch.nn.", "torch.optim.", "torch.amp.", "torch.cuda.",
                                           "torch.device", "int", "float", "len"}) {
        if (path.starts_with(begin) && !path.starts_with("torch.nn.functional."))
          excluded_.insert(*name);
      }
    }
  }

  const UserCode& code_;
  const TrainingStep& step_;
  Place lines_;
  std::set<Name> excluded_, used_, dicts_, tuples_, attributes_, known_, fresh_;
};

bool leaves_turn(const UserCode& code, Place lines) {
  return std::any_of(code.statements().begin(), code.statements().end(), [&](const Stmt* one) {
    const bool leaves = one->kind == StmtKind::kBreak || one->kind == StmtKind::kContinue ||
                        one->kind == StmtKind::kReturn;
    return leaves && within(one->place, lines);
  });
}

bool sets_gradients_to_zero(const UserCode& code, const Stmt& statement) {
  if (statement.kind != StmtKind::kExpr) return false;
  const AttributeExpr* method = method_of(*static_cast<const ExprStmt&>(statement).value);
  return method != nullptr && code.name(method->name) == "zero_grad";
}

/// "x.chunk(4)", and the like of a dict or tuple of tensors.
std::string parts_text(std::string_view name, BatchFinder::Form form, unsigned parts) {
  using Form = BatchFinder::Form;
  if (form == Form::kTuple)
    return fmt::format("zip(*(part.chunk({1}) for part in {0}))", name, parts);
  if (form == Form::kTensor) return fmt::format("{}.chunk({})", name, parts);
  return fmt::format(
      "[{{key: value.chunk({1})[i] for key, value in {0}.items()}} for i in range({1})]", name,
      parts);
}

std::vector<Edit> in_parts(const TrainingStep& step, unsigned parts,
                           const std::set<std::string>& models) {
  const UserCode& code = *step.file->code;
  const Stmt& first = *step.body[step.first];
  const Place lines = lines_of(code, first, *step.body[step.last]);
  if (leaves_turn(code, lines)) return {};
  const BatchFinder finder(step, lines, models);
  const std::vector<BatchFinder::Part> batch = finder.parts();
  if (batch.empty()) return {};
  std::string targets;
  std::string values;
  std::vector<Edit> edits;
  for (const BatchFinder::Part& each : batch) {
    const std::string_view name = code.name(each.name);
    const std::string part = each.is_of_the_turn ? std::string(name) : fmt::format("{}_part", name);
    targets += (targets.empty() ? "" : ", ") + part;
    values += (values.empty() ? "" : ", ") + parts_text(name, each.form, parts);
    if (each.is_of_the_turn) continue;
    for (const Expr* node : code.expressions()) {
      if (node->kind == ExprKind::kName && within(node->place, lines) &&
          static_cast<const NameExpr*>(node)->name == each.name)
        edits.push_back({node->place, part});
    }
  }
  if (batch.size() > 1) values = fmt::format("zip({})", values);
  // As many as there are: a batch of three has no four parts.
  const std::string all = code.mentions("parts") ? "batch_parts" : "parts";
  const bool is_list = batch.size() == 1 && batch.front().form != BatchFinder::Form::kTuple;
  if (!is_list) values = fmt::format("list({})", values);
  const std::string indent = indent_of(code, first);
  // Gradients are set to zero once, before the first part.
  std::string before;
  std::vector<Place> moved;
  for (std::size_t i = step.first; i < step.last; ++i) {
    if (!sets_gradients_to_zero(code, *step.body[i])) continue;
    moved.push_back(lines_of(code, *step.body[i], *step.body[i]));
    before += code.text(moved.back());
    edits.push_back({moved.back(), {}});
  }
  std::vector<Edit> out{
      {{lines.begin, lines.begin},
       fmt::format("{0}{1}{2} = {3}\n{1}for {4} in {2}:\n", before, indent, all, values, targets)}};
  for (Edit& edit : indented(code, lines)) {
    const bool is_moved = std::any_of(moved.begin(), moved.end(), [&](Place place) {
      return edit.at.begin >= place.begin && edit.at.begin < place.end;
    });
    if (!is_moved) out.push_back(std::move(edit));
  }
  for (const Expr* loss : step.losses) {
    const Place at = code.extent(*loss);
    const std::string& text = code.text();
    const bool has_brackets =
        at.begin > 0 && text[at.begin - 1] == '(' && at.end < text.size() && text[at.end] == ')';
    if (!has_brackets) out.push_back({{at.begin, at.begin}, "("});
    out.push_back({{at.end, at.end}, fmt::format(" / len({}){}", all, has_brackets ? "" : ")")});
  }
  std::move(edits.begin(), edits.end(), std::back_inserter(out));
  return out;
}

}  // namespace

std::vector<FileEdits> step_in_parts(const std::vector<UserFile>& files, unsigned parts) {
  const std::set<std::string> models = model_names(files);
  std::vector<FileEdits> all;
  for (const TrainingStep& step : training_steps(files)) {
    // Several losses of one step are several gradients of one batch: told by none of them alone.
    const bool has_other = std::any_of(
        all.begin(), all.end(), [&](const FileEdits& each) { return each.file == step.file; });
    std::vector<Edit> edits = has_other ? std::vector<Edit>() : in_parts(step, parts, models);
    if (edits.empty()) return {};
    all.push_back({step.file, std::move(edits)});
  }
  return all;
}

}  // namespace tidemark
