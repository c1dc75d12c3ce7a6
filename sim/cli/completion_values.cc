#include "sim/cli/completion_values.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/device/cloud_machines.h"
#include "sim/device/device.h"
#include "sim/device/known_devices.h"
#include "sim/run/scenario.h"
#include "sim/run/scenario_fields.h"
#include "sim/study/advice/quantity.h"
#include "sim/study/catalogue/catalogue.h"
#include "sim/study/trial/trial.h"

namespace tidemark::cli {

namespace {

using Words = std::vector<std::string>;

/// What `of_file` says of the scenario; nothing of one that is not there or is wrong.
template <typename Function>
void add_of_scenario(const std::string& file, Words& out, Function of_file) {
  if (file.empty()) return;
  try {
    const Words words = of_file();
    out.insert(out.end(), words.begin(), words.end());
  } catch (const InputError&) {  // told when the command runs
  } catch (const IoError&) {
  }
}

void add_keys(const yaml::Map& map, const std::string& before, Words& out) {
  for (const yaml::Field& field : map.fields) {
    const bool is_map = field.form.kind == yaml::Form::Kind::kMap && field.form.map != nullptr;
    if (is_map && before.empty()) add_keys(*field.form.map, std::string(field.key) + ".", out);
    if (!is_map) out.push_back(fmt::format("{}{}=", before, field.key));
  }
}

/// Every key that --set takes: parameters, keys of the file, keys of `train` by themselves.
Words keys(const std::string& scenario) {
  Words out;
  add_of_scenario(scenario, out, [&] {
    Words words = own_quantity_words(open_scenario(scenario, {}));
    for (std::string& word : words) word += "=";
    return words;
  });
  add_keys(kScenarioMap, {}, out);
  for (const yaml::Field& field : kTrainMap.fields) out.push_back(fmt::format("{}=", field.key));
  for (const std::string_view outside :
       {"schema_version=", "name=", "notes=", "variants=", "sweep="})
    out.erase(std::remove(out.begin(), out.end(), outside), out.end());
  return out;
}

const yaml::Field* field_at(std::string_view path) {
  const std::size_t dot = path.find('.');
  const yaml::Field* field = kScenarioMap.find(path.substr(0, dot));
  if (dot == std::string_view::npos) return field != nullptr ? field : kTrainMap.find(path);
  if (field == nullptr || field->form.map == nullptr) return nullptr;
  return field->form.map->find(path.substr(dot + 1));
}

void add_values(const yaml::Form& form, const std::string& before, Words& out) {
  for (const std::string_view choice : form.choices) out.push_back(before + std::string(choice));
  if (form.kind == yaml::Form::Kind::kBoolean) {
    for (const char* value : {"true", "false"}) out.push_back(before + value);
  }
  if (form.examples != nullptr) {
    for (const std::string_view each : form.examples()) out.push_back(before + std::string(each));
  }
  if (form.otherwise != nullptr) add_values(*form.otherwise, before, out);
}

Words settings(const ValueQuestion& question) {
  const std::size_t equals = question.so_far.find('=');
  if (equals == std::string_view::npos) return keys(question.scenario);
  Words out;
  const std::string_view key = question.so_far.substr(0, equals);
  const std::string before = std::string(key) + "=";
  if (key == "device") {
    for (const std::string_view name : device_names_to_offer())
      out.push_back(before + std::string(name));
    return out;
  }
  if (const yaml::Field* field = field_at(key)) add_values(field->form, before, out);
  return out;
}

}  // namespace

std::vector<std::string_view> device_names_to_offer() {
  std::vector<std::string_view> names;
  for (const KnownDevice& device : known_devices()) {
    names.push_back(device.id);
    names.insert(names.end(), device.aliases.begin(), device.aliases.end());
  }
  for (const CloudMachine& machine : cloud_machines()) names.push_back(machine.name);
  return names;
}

std::vector<std::string> values_to_offer(const ValueQuestion& question) {
  Words out;
  if (question.option == "set") out = settings(question);
  if (question.option == "device") {
    for (const std::string_view name : device_names_to_offer()) out.emplace_back(name);
  }
  if (question.option == "model") {
    for (const auto& row : model_table({}, false).rows) out.push_back(row.front().text);
  }
  if (question.option == "variant")
    add_of_scenario(question.scenario, out, [&] { return load_variant_names(question.scenario); });
  if (question.option == "over") {
    add_of_scenario(question.scenario, out,
                    [&] { return quantity_words(open_scenario(question.scenario, {})); });
  }
  std::unordered_set<std::string_view> offered;  // a parameter may have the name of a key
  Words once;
  once.reserve(out.size());  // `offered` looks into its words
  for (std::string& word : out) {
    if (!word.starts_with(question.so_far) || offered.contains(word)) continue;
    once.push_back(std::move(word));
    offered.insert(once.back());
  }
  return once;
}

}  // namespace tidemark::cli
