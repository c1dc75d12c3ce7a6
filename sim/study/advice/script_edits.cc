#include "sim/study/advice/script_edits.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/study/advice/code_edit.h"
#include "sim/study/advice/training_step.h"
#include "sim/study/advice/user_files.h"

namespace tidemark::script_edits {
namespace {

using lang::AssignStmt;
using lang::CallExpr;
using lang::ClassStmt;
using lang::Edit;
using lang::Expr;
using lang::ExprKind;
using lang::FunctionStmt;
using lang::Place;
using lang::Stmt;
using lang::StmtKind;
using lang::UserCode;

constexpr std::string_view kTrainingArguments[] = {"transformers.TrainingArguments",
                                                   "transformers.Seq2SeqTrainingArguments"};

bool within(Place inner, Place outer) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// An argument given by name: its value in place of the one that is there, or one more.
std::vector<Edit> with_keyword(const UserCode& code, const CallExpr& call, std::string_view name,
                               std::string_view value) {
  if (const Expr* given = keyword_of(code, call, name))
    return {{code.extent(*given), std::string(value)}};
  return with_argument(code, call, fmt::format("{}={}", name, value));
}

/// Edits of every call that `edit` says something of.
template <class MakeEdits>
std::vector<FileEdits> edits_of_calls(const std::vector<UserFile>& files, const MakeEdits& edit) {
  std::vector<FileEdits> all;
  for (const UserFile& file : files) {
    FileEdits own{&file, {}};
    for (const PathCall& each : calls_of(*file.code)) {
      for (Edit& one : edit(file, *each.call, each.path)) own.edits.push_back(std::move(one));
    }
    all.push_back(std::move(own));
  }
  return all;
}

/// A setting of the Trainer's arguments, where the script has them and says nothing else of it.
Edited trainer_setting(const std::vector<UserFile>& files, std::string_view name,
                       std::string_view value) {
  return edit_files(edits_of_calls(
      files, [&](const UserFile& file, const CallExpr& call, const std::string& path) {
        const UserCode& code = *file.code;
        if (!is_one_of(path, kTrainingArguments)) return std::vector<Edit>();
        const Expr* given = keyword_of(code, call, name);
        if (given != nullptr && code.text(*given) == value) return std::vector<Edit>();
        return with_keyword(code, call, name, value);
      }));
}

bool leaves_open(const UserCode& code, const CallExpr& call) {
  return keyword_of(code, call, "fused") == nullptr &&
         keyword_of(code, call, "foreach") == nullptr &&
         std::none_of(call.keywords.begin(), call.keywords.end(),
                      [](const lang::Keyword& keyword) { return keyword.spread; });
}

}  // namespace

Edited give_optimizers(const ScenarioSource& source, const Scenario& scenario,
                       std::span<const std::string_view> names, std::string_view argument) {
  const std::vector<UserFile> files = user_files(source, scenario);
  std::string where;
  std::vector<FileEdits> edits = edits_of_calls(
      files, [&](const UserFile& file, const CallExpr& call, const std::string& path) {
        const std::string name = path.substr(path.rfind('.') + 1);
        const bool is_it = path.starts_with("torch.optim.") && is_one_of(name, names);
        if (!is_it || !leaves_open(*file.code, call)) return std::vector<Edit>();
        where += fmt::format("{}{} at {}", where.empty() ? "" : ", ", name,
                             place_text(file, call.place.begin));
        return with_argument(*file.code, call, argument);
      });
  return edit_files(std::move(edits), fmt::format("{} for {}", argument, where));
}

Edited other_optimizer(const ScenarioSource& source, const Scenario& scenario,
                       std::string_view name, std::string_view note) {
  const std::vector<UserFile> files = user_files(source, scenario);
  std::string where;
  std::vector<FileEdits> edits = edits_of_calls(
      files, [&](const UserFile& file, const CallExpr& call, const std::string& path) {
        const UserCode& code = *file.code;
        const bool is_adam = path == "torch.optim.Adam" || path == "torch.optim.AdamW" ||
                             path == "torch.optim.adam.Adam" || path == "torch.optim.adamw.AdamW";
        if (!is_adam || call.arguments.empty() || call.spread) return std::vector<Edit>();
        where += fmt::format("{}{}", where.empty() ? "" : ", ", place_text(file, call.place.begin));
        std::string text = fmt::format("torch.optim.{}({}", name, code.text(*call.arguments[0]));
        if (call.arguments.size > 1) text += fmt::format(", lr={}", code.text(*call.arguments[1]));
        for (const std::string_view kept : {"lr", "weight_decay"}) {
          if (const Expr* value = keyword_of(code, call, kept))
            text += fmt::format(", {}={}", kept, code.text(*value));
        }
        return std::vector<Edit>{{call.place, text + ")"}};
      });
  for (FileEdits& each : edits) {
    if (each.edits.empty()) continue;
    for (Edit& edit : with_import(*each.file->code, "torch")) each.edits.push_back(std::move(edit));
  }
  return edit_files(std::move(edits), fmt::format("{} at {}: {}", name, where, note));
}

Edited set_to_none(const ScenarioSource& source, const Scenario& scenario) {
  const std::vector<UserFile> files = user_files(source, scenario);
  return edit_files(edits_of_calls(
      files, [](const UserFile& file, const CallExpr& call, const std::string& /*path*/) {
        const UserCode& code = *file.code;
        const Expr* given = keyword_of(code, call, "set_to_none");
        if (given == nullptr || code.text(*given) != "False") return std::vector<Edit>();
        return std::vector<Edit>{{given->place, "True"}};
      }));
}

namespace {

/// The statement that keeps a value, and what is around it.
struct Keeping {
  const Stmt* statement = nullptr;
  const Stmt* innermost = nullptr;  ///< loop or function; null: the module
  const Stmt* function = nullptr;   ///< null: the module
};

Keeping keeping_of(const UserCode& code, const Expr& value) {
  Keeping out;
  // What lies around another comes before it.
  for (const Stmt* statement : code.statements()) {
    if (statement->place.begin > value.place.begin) break;
    const StmtKind kind = statement->kind;
    out.statement = statement;
    const bool is_loop = kind == StmtKind::kFor || kind == StmtKind::kWhile;
    if (!is_loop && kind != StmtKind::kFunction) continue;
    if (!within(value.place, lines_of(code, *statement, *statement))) continue;
    out.innermost = statement;
    if (!is_loop) out.function = statement;
  }
  return out;
}

/// What a statement keeps a value in: x of x.append(value), of x += value, of x[i] = value.
const Expr* kept_in(const Stmt& statement) {
  const Expr* target = nullptr;
  if (statement.kind == StmtKind::kAssign) {
    target = static_cast<const AssignStmt&>(statement).targets[0];
  } else if (statement.kind == StmtKind::kAugAssign) {
    target = static_cast<const lang::AugAssignStmt&>(statement).target;
  } else if (statement.kind == StmtKind::kExpr) {
    const Expr* call = static_cast<const lang::ExprStmt&>(statement).value;
    if (call->kind != ExprKind::kCall) return nullptr;
    const Expr* callee = static_cast<const CallExpr*>(call)->callee;
    if (callee->kind == ExprKind::kAttribute)
      target = static_cast<const lang::AttributeExpr*>(callee)->object;
  }
  while (target != nullptr && target->kind == ExprKind::kSubscript)
    target = static_cast<const lang::SubscriptExpr*>(target)->object;
  return target;
}

bool calls_within(const UserCode& code, Place lines, std::string_view name) {
  for (const PathCall& each : calls_of(code)) {
    if (within(each.call->place, lines) && callee_name(code, *each.call) == name) return true;
  }
  return false;
}

/// Whether a kept value outlives the turn that makes it, and no gradient comes back through it.
bool is_only_kept(const UserCode& code, const Expr& value, const std::vector<TrainingStep>& steps) {
  const Keeping keeping = keeping_of(code, value);
  const Expr* target = keeping.statement == nullptr ? nullptr : kept_in(*keeping.statement);
  if (target == nullptr || keeping.innermost == nullptr) return false;
  const bool is_call = keeping.statement->kind == StmtKind::kExpr;
  if (keeping.innermost->kind == StmtKind::kFunction && !is_call) return false;
  const std::string_view kept = code.text(*target);
  const auto reads = [&](Place lines) {
    return std::any_of(code.expressions().begin(), code.expressions().end(), [&](const Expr* node) {
      return within(node->place, lines) && node != target &&
             !within(node->place, keeping.statement->place) && code.text(*node) == kept;
    });
  };
  // A loss that is summed up, or terms of one.
  for (const TrainingStep& step : steps) {
    if (&*step.file->code != &code) continue;
    if (reads(lines_of(code, *step.body[step.first], *step.body[step.last]))) return false;
  }
  if (keeping.function == nullptr) return true;
  // What a function gives back may be learned from, unless it evaluates.
  const Place function = lines_of(code, *keeping.function, *keeping.function);
  if (calls_within(code, function, "eval")) return true;
  return std::none_of(code.statements().begin(), code.statements().end(), [&](const Stmt* one) {
    return one->kind == StmtKind::kReturn && within(one->place, function) && reads(one->place);
  });
}

}  // namespace

Edited keep_numbers(const ScenarioSource& source, const Scenario& scenario, unsigned level) {
  const std::vector<UserFile> files = user_files(source, scenario);
  const std::vector<TrainingStep> steps = training_steps(files);
  unsigned found = 0;
  for (const UserFile& file : files) {
    for (const Expr* value : kept_values(*file.code)) {
      if (!may_hold_memory(*file.code, *value)) continue;
      if (!is_only_kept(*file.code, *value, steps)) continue;
      if (++found != level) continue;
      return edit_files({{&file, {to_host(*file.code, *value)}}});
    }
  }
  return std::nullopt;
}

Edited autocast(const ScenarioSource& source, const Scenario& scenario, bool has_bfloat16) {
  const std::vector<UserFile> files = user_files(source, scenario);
  if (Edited own = trainer_setting(files, has_bfloat16 ? "bf16" : "fp16", "True")) return own;
  if (any_mentions(files, "autocast")) return std::nullopt;
  const std::string_view type = has_bfloat16 ? "bfloat16" : "float16";
  Edited change =
      edit_files(forwards_within(
                     files, fmt::format("torch.autocast(\"cuda\", dtype=torch.{})", type), "torch"),
                 fmt::format("forward under autocast to {}", type));
  return change;
}

Edited offload_activations(const ScenarioSource& source, const Scenario& scenario) {
  const std::vector<UserFile> files = user_files(source, scenario);
  if (any_mentions(files, "save_on_cpu")) return std::nullopt;
  return edit_files(
      forwards_within(files, "torch.autograd.graph.save_on_cpu(pin_memory=True)", "torch"),
      "what forward saves lies on the host");
}

namespace {

/// Where a model of that name is first made; null: by no statement of its own.
const Stmt* made_at(const UserCode& code, const std::string& model) {
  for (const Stmt* statement : code.statements()) {
    if (statement->kind != StmtKind::kAssign || !stands_alone(code, *statement)) continue;
    const auto& assigned = static_cast<const AssignStmt&>(*statement);
    if (assigned.value->kind != ExprKind::kCall) continue;
    for (const Expr* target : assigned.targets) {
      if (code.text(*target) == model) return statement;
    }
  }
  return nullptr;
}

/// A line behind the place where each model is made.
std::vector<FileEdits> after_models(const std::vector<UserFile>& files, std::string_view line) {
  std::vector<FileEdits> all;
  const std::set<std::string> models = model_names(files);
  for (const UserFile& file : files) {
    FileEdits own{&file, {}};
    for (const std::string& model : models) {
      const Stmt* made = made_at(*file.code, model);
      if (made == nullptr) continue;
      const std::uint32_t at = lines_of(*file.code, *made, *made).end;
      own.edits.push_back(
          {{at, at}, fmt::format("{}{}{}\n", indent_of(*file.code, *made), model, line)});
    }
    all.push_back(std::move(own));
  }
  return all;
}

/// Whether a model is what a library's function or class gives.
bool is_of_library(const UserCode& code, const Stmt& made, std::string_view library) {
  const Expr* value = static_cast<const AssignStmt&>(made).value;
  return lang::contains(*value, [&](const Expr& node) {
    return node.kind == ExprKind::kCall &&
           code.path(*static_cast<const CallExpr&>(node).callee).starts_with(library);
  });
}

}  // namespace

Edited bfloat16_weights(const ScenarioSource& source, const Scenario& scenario) {
  const std::vector<UserFile> files = user_files(source, scenario);
  if (any_mentions(files, "bfloat16") && !any_mentions(files, "autocast")) return std::nullopt;
  std::vector<FileEdits> edits = after_models(files, ".to(torch.bfloat16)");
  for (FileEdits& each : edits) {
    if (each.edits.empty()) continue;
    for (Edit& edit : with_import(*each.file->code, "torch")) each.edits.push_back(std::move(edit));
  }
  return edit_files(std::move(edits), "weights, gradients and optimizer state in bfloat16");
}

Edited micro_batches(const ScenarioSource& source, const Scenario& scenario, unsigned level) {
  const std::vector<UserFile> files = user_files(source, scenario);
  // A weight that steps in backward would step for each part.
  if (any_mentions(files, "register_post_accumulate_grad_hook")) return std::nullopt;
  const unsigned parts = 1U << level;
  return edit_files(
      step_in_parts(files, parts),
      fmt::format("each step in {} parts, gradients accumulated, for a loss that is a mean",
                  parts));
}

namespace {

/// A class of the user's with a forward of its own.
struct OwnModule {
  const UserFile* file;
  const ClassStmt* node;
  const FunctionStmt* forward;
  std::size_t made = 0;      ///< how often its name is called
  bool is_repeated = false;  ///< in a loop, or more than once
};

std::map<std::string, OwnModule> own_modules(const std::vector<UserFile>& files) {
  std::map<std::string, OwnModule> modules;
  for (const UserFile& file : files) {
    for (const Stmt* statement : file.code->statements()) {
      if (statement->kind != StmtKind::kClass) continue;
      const auto& node = static_cast<const ClassStmt&>(*statement);
      for (const Stmt* member : node.body) {
        if (member->kind != StmtKind::kFunction) continue;
        const auto* function = static_cast<const FunctionStmt*>(member);
        if (file.code->name(function->function->name) != "forward") continue;
        if (!function->decorators.empty() || !stands_alone(*file.code, *function)) continue;
        modules[std::string(file.code->name(node.target->name))] = {&file, &node, function};
      }
    }
  }
  return modules;
}

bool is_in_loop(const UserCode& code, Place place) {
  const bool is_in_statement =
      std::any_of(code.statements().begin(), code.statements().end(), [&](const Stmt* statement) {
        const bool is_loop =
            statement->kind == StmtKind::kFor || statement->kind == StmtKind::kWhile;
        return is_loop && stands_alone(code, *statement) &&
               within(place, lines_of(code, *statement, *statement));
      });
  return is_in_statement ||
         std::any_of(code.expressions().begin(), code.expressions().end(), [&](const Expr* node) {
           return node->kind == ExprKind::kComprehension && within(place, node->place);
         });
}

/// Those that a model is built of many times, and that are in no other such one.
std::vector<OwnModule> repeated_modules(const std::vector<UserFile>& files) {
  std::map<std::string, OwnModule> modules = own_modules(files);
  std::map<std::string, std::set<std::string>> made_in;
  for (const UserFile& file : files) {
    for (const PathCall& each : calls_of(*file.code)) {
      const auto found = modules.find(each.path.substr(each.path.rfind('.') + 1));
      if (found == modules.end()) continue;
      OwnModule& module = found->second;
      module.is_repeated =
          module.is_repeated || ++module.made > 1 || is_in_loop(*file.code, each.call->place);
      for (const auto& [name, other] : modules) {
        if (other.file == &file &&
            within(each.call->place, lines_of(*file.code, *other.node, *other.node)))
          made_in[found->first].insert(name);
      }
    }
  }
  const auto is_within_repeated = [&](const std::string& name) {
    std::set<std::string> seen;
    std::vector<std::string> open{name};
    while (!open.empty()) {
      const std::string one = open.back();
      open.pop_back();
      for (const std::string& outer : made_in[one]) {
        if (modules.at(outer).is_repeated) return true;
        if (seen.insert(outer).second) open.push_back(outer);
      }
    }
    return false;
  };
  std::vector<OwnModule> out;
  for (const auto& [name, module] : modules) {
    if (module.is_repeated && !is_within_repeated(name)) out.push_back(module);
  }
  return out;
}

}  // namespace

Edited checkpoint(const ScenarioSource& source, const Scenario& scenario) {
  const std::vector<UserFile> files = user_files(source, scenario);
  if (Edited own = trainer_setting(files, "gradient_checkpointing", "True")) return own;
  for (const std::string_view word :
       {"checkpoint", "checkpoint_sequential", "gradient_checkpointing_enable"}) {
    if (any_mentions(files, word)) return std::nullopt;
  }
  std::vector<FileEdits> edits;
  std::string names;
  edits.reserve(files.size());
  for (const UserFile& file : files) edits.push_back({&file, {}});
  for (const OwnModule& module : repeated_modules(files)) {
    const UserCode& code = *module.file->code;
    std::vector<Edit>& own = edits[static_cast<std::size_t>(module.file - files.data())].edits;
    const std::string indent = indent_of(code, *module.forward);
    const std::uint32_t at = lines_of(code, *module.forward, *module.forward).begin;
    own.push_back(
        {{at, at},
         fmt::format("{0}def forward(self, *args, **kwargs):\n"
                     "{0}    return torch.utils.checkpoint.checkpoint(\n"
                     "{0}        self._forward, *args, use_reentrant=False, **kwargs)\n\n",
                     indent)});
    own.push_back({module.forward->function->place, "_forward"});
    names += fmt::format("{}{}", names.empty() ? "" : ", ", code.name(module.node->target->name));
  }
  for (FileEdits& each : edits) {
    if (each.edits.empty()) continue;
    for (Edit& edit : with_import(*each.file->code, "torch.utils.checkpoint"))
      each.edits.push_back(std::move(edit));
  }
  if (!names.empty())
    return edit_files(std::move(edits), fmt::format("checkpoint every {}", names));
  // A library's model has a switch.
  struct Switch {
    std::string_view library;
    std::string_view line;
  };
  constexpr Switch kSwitches[] = {{"transformers.", ".gradient_checkpointing_enable()"},
                                  {"timm.", ".set_grad_checkpointing()"}};
  for (const Switch& own : kSwitches) {
    std::vector<FileEdits> switched = after_models(files, own.line);
    for (FileEdits& each : switched) {
      const UserCode& code = *each.file->code;
      std::erase_if(each.edits, [&](const Edit& edit) {
        for (const std::string& model : model_names(files)) {
          const Stmt* made = made_at(code, model);
          if (made != nullptr && lines_of(code, *made, *made).end == edit.at.begin)
            return !is_of_library(code, *made, own.library);
        }
        return true;
      });
    }
    if (Edited change = edit_files(std::move(switched), "the model's own checkpointing"))
      return change;
  }
  return std::nullopt;
}

Edited no_gradients(const ScenarioSource& source, const Scenario& scenario) {
  const std::vector<UserFile> files = user_files(source, scenario);
  for (const std::string_view name : {"no_grad", "inference_mode", "set_grad_enabled", "Trainer"}) {
    if (any_mentions(files, name)) return std::nullopt;
  }
  if (files.empty()) return std::nullopt;
  const UserCode& script = *files.front().code;
  if (!any_mentions(files, "backward") && !any_mentions(files, "grad")) {
    std::vector<Edit> edits = with_import(script, "torch");
    const Stmt* first = nullptr;
    for (const Stmt* statement : script.body()) {
      const bool is_import =
          statement->kind == StmtKind::kImport || statement->kind == StmtKind::kImportFrom;
      if (is_import && stands_alone(script, *statement)) first = statement;
    }
    if (first == nullptr) return std::nullopt;
    const std::uint32_t at = lines_of(script, *first, *first).end;
    edits.push_back({{at, at}, "torch.set_grad_enabled(False)\n"});
    return edit_files({{&files.front(), std::move(edits)}}, "no graph: nothing asks for gradients");
  }
  // Functions that set a model to evaluate and have no backward of their own.
  std::vector<FileEdits> all;
  for (const UserFile& file : files) {
    FileEdits own{&file, {}};
    const UserCode& code = *file.code;
    for (const Stmt* statement : code.statements()) {
      if (statement->kind != StmtKind::kFunction || !stands_alone(code, *statement)) continue;
      const Place lines = lines_of(code, *statement, *statement);
      bool evaluates = false;
      bool learns = false;
      for (const PathCall& each : calls_of(code)) {
        if (!within(each.call->place, lines)) continue;
        const std::string_view called = callee_name(code, *each.call);
        evaluates = evaluates || called == "eval";
        learns = learns || called == "backward";
      }
      if (!evaluates || learns) continue;
      own.edits.push_back({{lines.begin, lines.begin},
                           fmt::format("{}@torch.no_grad()\n", indent_of(code, *statement))});
    }
    if (!own.edits.empty()) {
      for (Edit& edit : with_import(code, "torch")) own.edits.push_back(std::move(edit));
    }
    all.push_back(std::move(own));
  }
  return edit_files(std::move(all), "no graph where a function evaluates");
}

Edited smaller_batches(const ScenarioSource& source, const Scenario& scenario, unsigned level) {
  const std::vector<UserFile> files = user_files(source, scenario);
  std::string where;
  std::vector<FileEdits> edits = edits_of_calls(
      files, [&](const UserFile& file, const CallExpr& call, const std::string& path) {
        const UserCode& code = *file.code;
        const bool is_loader = path.ends_with("DataLoader") && path.starts_with("torch.");
        const Expr* batch = is_loader ? keyword_of(code, call, "batch_size") : nullptr;
        if (batch == nullptr && is_loader && call.arguments.size > 1) batch = call.arguments[1];
        if (batch == nullptr) return std::vector<Edit>();
        std::string smaller = fmt::format("max(1, {} // {})", code.text(*batch), 1U << level);
        if (batch->kind == ExprKind::kConstant) {
          const std::int64_t now = static_cast<const lang::ConstantExpr*>(batch)->literal.integer();
          if (now >> level < 1) return std::vector<Edit>();
          smaller = std::to_string(now >> level);
        } else if (batch->kind != ExprKind::kName && batch->kind != ExprKind::kAttribute) {
          smaller = fmt::format("max(1, ({}) // {})", code.text(*batch), 1U << level);
        }
        where += fmt::format("{}{}", where.empty() ? "" : ", ", place_text(file, call.place.begin));
        return std::vector<Edit>{{code.extent(*batch), std::move(smaller)}};
      });
  return edit_files(std::move(edits), fmt::format("batches of 1/{} at {}", 1U << level, where));
}

}  // namespace tidemark::script_edits
