#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/study/advice/added_code.h"
#include "sim/study/advice/call_edits.h"
#include "sim/study/advice/script_edits.h"
#include "sim/study/advice/training_step.h"
#include "sim/study/advice/user_files.h"

namespace tidemark::script_edits {
namespace {

using lang::AssignStmt;
using lang::CallExpr;
using lang::Edit;
using lang::Expr;
using lang::ExprKind;
using lang::FunctionStmt;
using lang::Place;
using lang::Stmt;
using lang::StmtKind;
using lang::UserCode;

/// Where a model is made, and what it is called there.
struct MadeModel {
  const UserFile* file = nullptr;
  const Stmt* statement = nullptr;  ///< null: before the text, by its scenario
  std::string name;
  [[nodiscard]] std::string indent() const {
    return statement == nullptr ? std::string() : indent_of(*file->code, *statement);
  }
  /// Behind it.
  [[nodiscard]] std::uint32_t end() const {
    return statement == nullptr ? 0 : lines_of(*file->code, *statement, *statement).end;
  }
};

/// Whether a call has a model among its arguments: it wraps one, or moves it.
bool takes_one_of(const UserCode& code, const CallExpr& call, const std::set<std::string>& models) {
  const auto is_one = [&](const Expr& argument) {
    return models.count(std::string(code.text(argument))) > 0;
  };
  return std::any_of(call.arguments.begin(), call.arguments.end(),
                     [&](const Expr* argument) { return is_one(*argument); }) ||
         std::any_of(call.keywords.begin(), call.keywords.end(),
                     [&](const lang::Keyword& keyword) { return is_one(*keyword.value); });
}

/// Where each model is first made by a statement of its own.
std::vector<MadeModel> made_models(const std::vector<UserFile>& files) {
  const std::set<std::string> models = model_names(files);
  std::vector<MadeModel> made;
  for (const UserFile& file : files) {
    const UserCode& code = *file.code;
    std::set<std::string> found;
    if (file.key == "loop" && code.is_around("model") && models.count("model") > 0) {
      found.insert("model");
      made.push_back({&file, nullptr, "model"});
    }
    for (const Stmt* statement : code.statements()) {
      if (statement->kind != StmtKind::kAssign || !stands_alone(code, *statement)) continue;
      const auto& assigned = static_cast<const AssignStmt&>(*statement);
      if (assigned.value->kind != ExprKind::kCall) continue;
      if (takes_one_of(code, static_cast<const CallExpr&>(*assigned.value), models)) continue;
      for (const Expr* target : assigned.targets) {
        std::string name(code.text(*target));
        if (models.count(name) == 0 || !found.insert(name).second) continue;
        made.push_back({&file, statement, std::move(name)});
      }
    }
  }
  return made;
}

/// Of the statements under one another with `made` the first behind it that makes an optimizer of
/// the model or wraps it; null: none does.
const Stmt* taken_at(const MadeModel& made) {
  const UserCode& code = *made.file->code;
  const std::set<std::string> models{made.name};
  for (const lang::Block& block : lang::blocks_of(code)) {
    auto* from = block.body.begin();
    if (made.statement != nullptr) {
      auto* const found = std::find(from, block.body.end(), made.statement);
      if (found == block.body.end()) continue;
      from = found + 1;
    } else if (block.owner != nullptr) {
      continue;
    }
    for (const auto* it = from; it != block.body.end(); ++it) {
      if (!stands_alone(code, **it)) continue;
      const Place lines = lines_of(code, **it, **it);
      for (const PathCall& each : calls_of(code)) {
        if (!within(each.call->place, lines)) continue;
        const bool is_optimizer = each.path.starts_with("torch.optim.") &&
                                  code.text(each.call->place).find(made.name) != std::string::npos;
        if (is_optimizer || takes_one_of(code, *each.call, models)) return *it;
      }
    }
  }
  return nullptr;
}

using LineOf = std::function<std::string(const MadeModel&)>;

/// A line behind the place where each model is made; empty: none for this one.
std::vector<FileEdits> after_models(const std::vector<UserFile>& files, const LineOf& line_of) {
  std::vector<FileEdits> all;
  all.reserve(files.size());
  for (const UserFile& file : files) all.push_back({&file, {}});
  for (const MadeModel& made : made_models(files)) {
    const std::string line = line_of(made);
    if (line.empty()) continue;
    const std::uint32_t at = made.end();
    all[static_cast<std::size_t>(made.file - files.data())].edits.push_back(
        {{at, at}, fmt::format("{}{}\n", made.indent(), line)});
  }
  return all;
}

/// Whether a model is what a library's function or class gives.
bool is_of_library(const MadeModel& made, std::string_view library) {
  if (made.statement == nullptr) return false;
  const Expr* value = static_cast<const AssignStmt*>(made.statement)->value;
  return lang::contains(*value, [&](const Expr& node) {
    return node.kind == ExprKind::kCall &&
           made.file->code->path(*static_cast<const CallExpr&>(node).callee).starts_with(library);
  });
}

}  // namespace

namespace {

/// Calls of models with what they take in bfloat16; `as_float32`: and what they give in float32.
std::vector<FileEdits> calls_in_bfloat16(const std::vector<UserFile>& files, bool as_float32) {
  const std::set<std::string> models = model_names(files);
  return edits_of_calls(files, [&](const UserFile& file, const CallExpr& call,
                                   const std::string& /*path*/) {
    const UserCode& code = *file.code;
    std::vector<Edit> edits;
    if (models.count(std::string(code.text(*call.callee))) == 0) return edits;
    for (const Expr* argument : call.arguments) {
      const ExprKind kind = argument->kind;
      if (kind == ExprKind::kStarred || kind == ExprKind::kConstant) continue;
      const bool is_one = kind == ExprKind::kName || kind == ExprKind::kAttribute ||
                          kind == ExprKind::kSubscript || kind == ExprKind::kCall;
      const Place at = code.extent(*argument);
      if (!is_one) edits.push_back({{at.begin, at.begin}, "("});
      edits.push_back({{at.end, at.end}, is_one ? ".to(torch.bfloat16)" : ").to(torch.bfloat16)"});
    }
    const std::uint32_t end = code.extent(call).end;
    if (as_float32 && !edits.empty()) edits.push_back({{end, end}, ".float()"});
    return edits;
  });
}

}  // namespace

Edited bfloat16_weights(const ScenarioSource& source, const Scenario& scenario, unsigned way) {
  const std::vector<UserFile> files = user_files(source, scenario);
  if (any_mentions(files, "bfloat16") && !any_mentions(files, "autocast")) return std::nullopt;
  std::vector<FileEdits> edits =
      after_models(files, [](const MadeModel& made) { return made.name + ".to(torch.bfloat16)"; });
  if (way > 1) {
    bool changes = false;
    std::vector<FileEdits> calls = calls_in_bfloat16(files, way > 2);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      changes = changes || !calls[i].edits.empty();
      std::ranges::move(calls[i].edits, std::back_inserter(edits[i].edits));
    }
    if (!changes) return std::nullopt;
  }
  for (FileEdits& each : edits) {
    if (each.edits.empty()) continue;
    for (Edit& edit : with_import(*each.file->code, "torch")) each.edits.push_back(std::move(edit));
  }
  return edit_files(std::move(edits), "weights, gradients and optimizer state in bfloat16");
}

namespace {

/// Small layers beside a model's linear ones, where an optimizer first takes the model.
Edited low_rank_by(const std::vector<UserFile>& files, bool in_four_bits, std::string text) {
  for (const std::string_view word : {"LowRank", "peft", "LoraConfig", "requires_grad_"}) {
    if (any_mentions(files, word)) return std::nullopt;
  }
  if (training_steps(files).empty() && !any_mentions(files, "Trainer")) return std::nullopt;
  std::vector<FileEdits> edits;
  edits.reserve(files.size());
  for (const UserFile& file : files) edits.push_back({&file, {}});
  for (const MadeModel& made : made_models(files)) {
    const UserCode& code = *made.file->code;
    const Stmt* taken = taken_at(made);
    const std::uint32_t at = taken != nullptr ? lines_of(code, *taken, *taken).begin : made.end();
    const std::string indent = made.indent();
    std::string lines = fmt::format("{}learn_low_rank({})\n", indent, made.name);
    if (in_four_bits) lines += fmt::format("{}rest_in_four_bits({})\n", indent, made.name);
    edits[static_cast<std::size_t>(made.file - files.data())].edits.push_back({{at, at}, lines});
  }
  edits = in_four_bits ? with_code(std::move(edits), {"low_rank", "four_bits"})
                       : with_code(std::move(edits), {"low_rank"});
  return edit_files(std::move(edits), std::move(text));
}

}  // namespace

Edited low_rank(const ScenarioSource& source, const Scenario& scenario) {
  return low_rank_by(user_files(source, scenario), false,
                     "linear layers rest, two of rank 8 beside each learn");
}

Edited low_rank_in_four_bits(const ScenarioSource& source, const Scenario& scenario) {
  return low_rank_by(user_files(source, scenario), true,
                     "linear layers rest in 4 bits a weight, two of rank 8 beside each learn");
}

namespace {

/// Whether a text names one GPU of several: "cuda:0".
bool names_a_gpu(const UserFile& file) {
  const auto& nodes = file.code->expressions();
  return std::any_of(nodes.begin(), nodes.end(), [&](const Expr* node) {
    return node->kind == ExprKind::kConstant &&
           file.code->text(node->place).find("cuda:") != std::string_view::npos;
  });
}

}  // namespace

Edited shard(const ScenarioSource& source, const Scenario& scenario, unsigned level) {
  const std::vector<UserFile> files = user_files(source, scenario);
  const int world = 1 << level;
  for (const std::string_view word : {"distributed", "fully_shard", "share_model", "Trainer",
                                      "Accelerator", "accelerate", "deepspeed", "set_device"}) {
    if (any_mentions(files, word)) return std::nullopt;
  }
  if (scenario.rank || scenario.device_count > 1 || training_steps(files).empty() ||
      std::any_of(files.begin(), files.end(), names_a_gpu))
    return std::nullopt;
  std::vector<FileEdits> edits;
  edits.reserve(files.size());
  for (const UserFile& file : files) edits.push_back({&file, {}});
  for (const MadeModel& made : made_models(files)) {
    const Stmt* taken = taken_at(made);
    if (made.statement == nullptr || taken == nullptr) continue;
    const std::uint32_t at = lines_of(*made.file->code, *taken, *taken).begin;
    edits[static_cast<std::size_t>(made.file - files.data())].edits.push_back(
        {{at, at}, fmt::format("{}share_model({})\n", made.indent(), made.name)});
  }
  Edited change = edit_files(
      with_code(std::move(edits), {"shared_model"}, {"os", "torch", "torch.distributed.fsdp"}),
      fmt::format("sharded over {0} GPUs by fully_shard, each with this batch: "
                  "torchrun --nproc-per-node {0}",
                  world));
  if (change) change->overrides.push_back({"ranks.world", std::to_string(world)});
  return change;
}

namespace {

/// A class of the user's with a forward of its own.
struct OwnModule {
  const UserFile* file;
  const lang::ClassStmt* node;
  const FunctionStmt* forward;
  std::size_t made = 0;      ///< how often its name is called
  bool is_repeated = false;  ///< in a loop, or more than once
};

std::map<std::string, OwnModule> own_modules(const std::vector<UserFile>& files) {
  std::map<std::string, OwnModule> modules;
  for (const UserFile& file : files) {
    for (const Stmt* statement : file.code->statements()) {
      if (statement->kind != StmtKind::kClass) continue;
      const auto& node = static_cast<const lang::ClassStmt&>(*statement);
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

namespace {

/// A class's `forward` becomes `_forward`, called by checkpoint.
std::vector<Edit> checkpointed(const OwnModule& module, std::string_view more) {
  const UserCode& code = *module.file->code;
  const std::uint32_t at = lines_of(code, *module.forward, *module.forward).begin;
  return {{{at, at},
           fmt::format("{0}def forward(self, *args, **kwargs):\n"
                       "{0}    return torch.utils.checkpoint.checkpoint(\n"
                       "{0}        self._forward, *args, use_reentrant=False,{1} **kwargs)\n\n",
                       indent_of(code, *module.forward), more)},
          {module.forward->function->place, "_forward"}};
}

/// The user's own modules that a model repeats.
Edited checkpoint_own(const std::vector<UserFile>& files, bool keeps_products) {
  std::vector<FileEdits> edits;
  std::string names;
  edits.reserve(files.size());
  for (const UserFile& file : files) edits.push_back({&file, {}});
  for (const OwnModule& module : repeated_modules(files)) {
    std::vector<Edit>& own = edits[static_cast<std::size_t>(module.file - files.data())].edits;
    for (Edit& edit : checkpointed(module, keeps_products ? " context_fn=keep_products," : ""))
      own.push_back(std::move(edit));
    names += fmt::format("{}{}", names.empty() ? "" : ", ",
                         module.file->code->name(module.node->target->name));
  }
  if (names.empty()) return std::nullopt;
  if (keeps_products) {
    edits = with_code(std::move(edits), {"keep_products"}, {"torch", "torch.utils.checkpoint"});
    return edit_files(std::move(edits), fmt::format("checkpoint every {}, products kept", names));
  }
  for (FileEdits& each : edits) {
    if (each.edits.empty()) continue;
    for (Edit& edit : with_import(*each.file->code, "torch.utils.checkpoint"))
      each.edits.push_back(std::move(edit));
  }
  return edit_files(std::move(edits), fmt::format("checkpoint every {}", names));
}

bool checkpoints(const std::vector<UserFile>& files) {
  constexpr std::string_view kWords[] = {"checkpoint", "checkpoint_sequential", "checkpoint_blocks",
                                         "gradient_checkpointing_enable"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return any_mentions(files, word); });
}

}  // namespace

Edited checkpoint(const ScenarioSource& source, const Scenario& scenario) {
  const std::vector<UserFile> files = user_files(source, scenario);
  if (Edited own = trainer_setting(files, "gradient_checkpointing", "True")) return own;
  if (checkpoints(files)) return std::nullopt;
  if (Edited own = checkpoint_own(files, false)) return own;
  // A library's model may have a switch.
  struct Switch {
    std::string_view library;
    std::string_view line;
  };
  constexpr Switch kSwitches[] = {{"transformers.", ".gradient_checkpointing_enable()"},
                                  {"timm.", ".set_grad_checkpointing()"}};
  for (const Switch& own : kSwitches) {
    std::vector<FileEdits> switched = after_models(files, [&](const MadeModel& made) {
      return is_of_library(made, own.library) ? fmt::format("{}{}", made.name, own.line)
                                              : std::string();
    });
    if (Edited change = edit_files(std::move(switched), "the model's own checkpointing"))
      return change;
  }
  if (training_steps(files).empty()) return std::nullopt;
  std::vector<FileEdits> blocks = after_models(
      files, [](const MadeModel& made) { return fmt::format("checkpoint_blocks({})", made.name); });
  return edit_files(with_code(std::move(blocks), {"checkpoint_blocks"},
                              {"functools", "torch", "torch.utils.checkpoint"}),
                    "checkpoint every block that the model has in a row");
}

Edited selective_checkpoint(const ScenarioSource& source, const Scenario& scenario) {
  const std::vector<UserFile> files = user_files(source, scenario);
  if (checkpoints(files)) return std::nullopt;
  return checkpoint_own(files, true);
}

}  // namespace tidemark::script_edits
