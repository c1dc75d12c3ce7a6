#include "sim/study/catalogue/catalogue.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/alloc/device_memory.h"
#include "sim/base/problem.h"
#include "sim/base/wheel.h"
#include "sim/device/cloud_machines.h"
#include "sim/device/device.h"
#include "sim/device/device_names.h"
#include "sim/library/library.h"
#include "sim/ops/op_record.h"
#include "sim/ops/registry.h"
#include "sim/ops/releases.h"
#include "sim/study/catalogue/describe.h"

namespace tidemark {
namespace {

using Unit = ResultsTable::Column::Unit;
using CellKind = ResultsValue::Kind;

ResultsValue text(std::string_view words) { return {CellKind::kText, 0, std::string(words)}; }
ResultsValue number(std::uint64_t value) {
  return {CellKind::kInteger, static_cast<std::int64_t>(value), {}};
}

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

/// Refuses a `part` that no name has.
void require_rows(const ResultsTable& table, std::string_view part, std::string_view of,
                  const std::vector<std::string_view>& names) {
  if (!table.rows.empty()) return;
  throw InputError(Problem{
      {}, {}, fmt::format("no {} has '{}' in its name", of, part), did_you_mean(part, names)});
}

/// The text from behind an open bracket to the one that closes it, each run of white space one
/// blank.
std::string bracketed(std::string_view text) {
  std::string out;
  int depth = 0;
  for (const char c : text) {
    if (c == ')' && depth == 0) break;
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    const bool is_space = c == ' ' || c == '\n';
    if (!is_space || !out.ends_with(' ')) out += is_space ? ' ' : c;
  }
  return out;
}

/// "lr=1e-3, betas=(0.9, 0.999)" cut at the commas outside brackets.
std::vector<std::string> parameters_of(std::string_view text) {
  std::vector<std::string> parameters(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parameters.emplace_back();
    } else if (c != ' ' || !parameters.back().empty()) {
      parameters.back() += c;
    }
  }
  return parameters;
}

/// The constructor that a class of the library has; null: it is no class, or has none.
const lang::Stmt* init_of(const lang::LibraryName& name) {
  const lang::Stmt* type = name.definition.empty() ? nullptr : name.definition[0];
  if (type == nullptr || type->kind != lang::StmtKind::kClass) return nullptr;
  for (const lang::Stmt* each : static_cast<const lang::ClassStmt*>(type)->body) {
    const bool is_init = each->kind == lang::StmtKind::kFunction &&
                         static_cast<const lang::FunctionStmt*>(each)->function->name ==
                             lang::known(lang::name::kInit);
    if (is_init) return each;
  }
  return nullptr;
}

/// What a class's constructor takes, without self and what is optimized. `init` begins with its
/// `def`.
std::vector<std::string> options_of(std::string_view init) {
  std::vector<std::string> options = parameters_of(bracketed(init.substr(init.find('(') + 1)));
  std::erase_if(options, [](const std::string& option) {
    return option == "self" || option == "params" || option == "*";
  });
  return options;
}

std::vector<ResultsValue> device_row(const Device& device, const std::string& id,
                                     const std::string& name) {
  const DeviceSpec& spec = device.spec;
  return {text(id), text(name), number(spec.total_bytes), number(spec.context_bytes),
          text(fmt::format("{}.{}", spec.compute_capability / 10, spec.compute_capability % 10))};
}

/// "a2-highgpu-1g a2-highgpu-2g": the clouds' machines that have a device.
std::string machines_with(std::string_view device) {
  std::vector<std::string_view> names;
  for (const CloudMachine& machine : cloud_machines()) {
    if (machine.device == device) names.push_back(machine.name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

bool is_meant(const CloudMachine& machine, std::string_view part) {
  const std::vector<std::string_view> called = cloud_machines_called(part);
  return find_cloud_machine(part) == &machine || has(machine.name, part) ||
         std::find(called.begin(), called.end(), machine.name) != called.end();
}

}  // namespace

ResultsTable device_table(std::string_view part, bool is_for_people) {
  ResultsTable table;
  table.columns = {
      {"id"},
      {"name"},
      {"total_bytes", Unit::kExactBytes},
      {"context_bytes", is_for_people ? Unit::kBytes : Unit::kExactBytes},
      {"compute_capability"},
  };
  if (!is_for_people) {
    for (const char* name : {"granularity_bytes", "multiprocessors", "l2_bytes",
                             "memory_bytes_per_s", "aliases", "machines", "total_rests_on"})
      table.columns.push_back({name});
  }
  const std::vector<std::string_view> called = devices_called(part);
  for (const std::string_view id : device_ids()) {
    const Device device = load_device(id);
    const std::string aliases = fmt::format("{}", fmt::join(device.aliases, " "));
    const bool is_called = std::find(called.begin(), called.end(), id) != called.end();
    if (!is_called && !has(id, part) && !has(device.spec.name, part) && !has(aliases, part))
      continue;
    table.rows.push_back(device_row(device, std::string(id), device.spec.name));
    if (is_for_people) continue;
    std::vector<ResultsValue>& row = table.rows.back();
    row.push_back(number(DeviceMemory::kGranule));
    row.push_back(number(static_cast<std::uint64_t>(device.spec.sm_count)));
    row.push_back(number(device.spec.l2_bytes));
    row.push_back(number(device.spec.memory_bytes_per_s));
    row.push_back(text(aliases));
    row.push_back(text(machines_with(id)));
    row.push_back(text(device.confidence.empty() ? "" : device.confidence.front().second));
  }
  std::vector<std::string_view> names = device_ids();
  for (const CloudMachine& machine : cloud_machines()) {
    names.push_back(machine.name);
    // Machines are names of devices: each is told where it is asked for.
    if (!is_for_people || part.empty() || !is_meant(machine, part)) continue;
    const Device device = load_device(machine.device);
    const std::string many = machine.count == 1 ? "" : fmt::format("{} x ", machine.count);
    table.rows.push_back(device_row(device, std::string(machine.name), many + device.spec.name));
  }
  require_rows(table, part, "device", names);
  return table;
}

ResultsTable release_table(std::string_view part, bool is_for_people) {
  ResultsTable table;
  table.columns = {{"what"}, {"releases"}, {"does"}};
  if (!is_for_people) table.columns.insert(table.columns.begin(), {"rule"});
  if (!is_for_people) table.columns.push_back({"source"});
  std::vector<std::string_view> names;
  for (const ops::ReleaseRule& rule : ops::release_rules()) {
    names.push_back(rule.what);
    if (!has(rule.what, part)) continue;
    for (const ops::ReleaseVariant& variant : rule.variants) {
      if (variant.does.empty()) continue;
      const std::string releases = (rule.by_toolkit ? "CUDA " : "") + to_string(variant.releases);
      std::vector<ResultsValue> row{text(rule.what), text(releases), text(variant.does)};
      if (!is_for_people) {
        row.insert(row.begin(), text(rule.name));
        row.push_back(text(rule.source));
      }
      table.rows.push_back(std::move(row));
    }
  }
  require_rows(table, part, "rule", names);
  return table;
}

ResultsTable op_table(std::string_view part, bool is_for_people) {
  ResultsTable table;
  if (is_for_people) {
    table.columns = {{"where"}, {"operator"}};
  } else {
    table.columns = {{"name"}, {"where"}, {"signature"}, {"source"}};
  }
  std::vector<std::pair<std::string_view, const ops::OpDef*>> defs;
  for (const auto& family : ops::op_families()) {
    for (const ops::OpDef& def : family) {
      if (!def.signature.starts_with('_') && def.releases.contain(kDefaultWheel.pytorch))
        defs.emplace_back(def.signature.substr(0, def.signature.find('(')), &def);
    }
  }
  std::stable_sort(defs.begin(), defs.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> names;
  names.reserve(defs.size());
  for (const auto& [name, def] : defs) {
    names.push_back(name);
    if (!has(name, part)) continue;
    if (is_for_people) {
      table.rows.push_back({text(def->where), text(def->signature)});
    } else {
      table.rows.push_back({text(name), text(def->where), text(def->signature), text(def->source)});
    }
  }
  require_rows(table, part, "operator", names);
  return table;
}

std::string op_record_text(std::string_view name) {
  std::string out;
  const auto is_it = [name](const ops::OpRecord& record) { return record.op == name; };
  // NAME_ is NAME's, unless it has a record of its own.
  const bool is_in_place = name.ends_with('_') && std::ranges::none_of(ops::op_records(), is_it);
  if (is_in_place) name.remove_suffix(1);
  for (const ops::OpRecord& record : ops::op_records()) {
    if (record.op != name) continue;
    out += fmt::format("\n# {}:{}; {}\n{}", record.file, record.line, record.source, record.text);
    if (!record.not_modelled.empty())
      out += fmt::format("# Not modelled: {}\n", record.not_modelled);
  }
  return out;
}

ResultsTable model_table(std::string_view part, bool /*is_for_people*/) {
  ResultsTable table;
  table.columns = {
      {"name"},
      {"class"},
      {"parameters", Unit::kCount},
      {"parameter_bytes", Unit::kExactBytes},
      {"arguments"},
  };
  const std::vector<ZooModel> zoo = describe_zoo();
  std::vector<std::string_view> names;
  names.reserve(zoo.size());
  for (const ZooModel& entry : zoo) {
    names.push_back(entry.name);
    if (!has(entry.name, part)) continue;
    const torch::WatchedModule& module = entry.model.layers.front().module;
    table.rows.push_back({text(entry.name), text(module.type), number(module.parameters),
                          number(module.parameter_bytes), text(entry.arguments)});
  }
  require_rows(table, part, "model", names);
  return table;
}

/// Where torch.optim takes a name from: the file and its definition there. Which names a release
/// has is decided when a program runs, so that some are bound by a statement: theirs is the file of
/// the package that defines them.
std::pair<const lang::LibraryModule*, const lang::LibraryName*> optimizer_of(
    const lang::LibraryRoots& library, const lang::LibraryName& taken) {
  if (taken.kind == lang::LibraryName::Kind::kMember) {
    const lang::LibraryModule* file = library.find(library.text(taken.module));
    return {file, file->find(taken.member)};
  }
  if (taken.kind != lang::LibraryName::Kind::kStatement) return {};
  for (const lang::Library& root : library.roots) {
    for (const lang::LibraryModule& file : root.modules) {
      if (!view(file.name).starts_with("torch.optim.") || file.code == nullptr) continue;
      const lang::LibraryName* type = file.find(taken.name);
      if (type != nullptr && type->kind == lang::LibraryName::Kind::kDefinition)
        return {&file, type};
    }
  }
  return {};
}

ResultsTable optimizer_table(std::string_view part, bool is_for_people) {
  ResultsTable table;
  if (is_for_people) {
    table.columns = {{"optimizer"}, {"options"}};
  } else {
    table.columns = {{"optimizer"}, {"option"}, {"default"}};
  }
  std::vector<std::pair<std::string_view, std::string_view>> classes;  // with their __init__
  const lang::LibraryRoots library = library::all();
  for (const lang::LibraryName& taken : library.find("torch.optim")->names) {
    const std::string_view name = library.text(taken.name);
    if (name == "Optimizer") continue;
    const auto [file, type] = optimizer_of(library, taken);
    const lang::Stmt* init = type == nullptr ? nullptr : init_of(*type);
    if (init != nullptr)
      classes.emplace_back(name, view(file->code->file->text).substr(init->place.begin));
  }
  std::vector<std::string_view> names;
  names.reserve(classes.size());
  for (const auto& [type, init] : classes) {
    names.push_back(type);
    if (!has(type, part)) continue;
    const std::vector<std::string> options = options_of(init);
    if (is_for_people) {
      table.rows.push_back({text(type), text(fmt::format("{}", fmt::join(options, ", ")))});
      continue;
    }
    for (const std::string& option : options) {
      const std::size_t equals = std::min(option.find('='), option.size());
      table.rows.push_back({text(type), text(option.substr(0, equals)),
                            text(option.substr(std::min(equals + 1, option.size())))});
    }
  }
  require_rows(table, part, "optimizer", names);
  return table;
}

}  // namespace tidemark
