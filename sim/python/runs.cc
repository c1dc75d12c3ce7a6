#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>

#include "sim/python/bindings.h"
#include "sim/python/columns.h"
#include "sim/python/errors.h"
#include "sim/report/diagnosis_report.h"
#include "sim/report/run_report.h"
#include "sim/report/snapshot_export.h"
#include "sim/run/run.h"
#include "sim/run/scenario.h"
#include "sim/study/explain/diagnosis.h"

namespace tidemark::python {

namespace nb = nanobind;

namespace {

using Unlocked = nb::call_guard<nb::gil_scoped_release>;
using Settings = std::vector<std::pair<std::string, std::string>>;

std::vector<Override> overrides_of(Settings settings) {
  std::vector<Override> overrides;
  overrides.reserve(settings.size());
  for (auto& [path, value] : settings) overrides.push_back({std::move(path), std::move(value)});
  return overrides;
}

ScenarioSource open_source(const std::string& path, Settings settings, std::string variant) {
  return open_scenario(path, overrides_of(std::move(settings)), std::move(variant));
}

ScenarioSource source_of_text(std::string text, std::string name, std::string folder,
                              Settings settings, std::string variant) {
  return {std::make_shared<const SourceText>(SourceText{std::move(name), std::move(text)}),
          std::move(folder), overrides_of(std::move(settings)), std::move(variant)};
}

std::vector<std::string> check(const ScenarioSource& source) {
  return warning_texts(read_scenario(source).warnings);
}

Run make_run(const ScenarioSource& source, bool keep_events, bool every_step) {
  RunOptions options;
  options.keep_events = keep_events;
  options.keep_live = keep_events;
  options.leave_out_repeats = !every_step;
  const Scenario scenario = read_scenario(source);
  return {source, run(scenario, options), warning_texts(scenario.warnings)};
}

const DeviceResult& device_of(const Run& run, std::size_t device) {
  if (device >= run.result.devices.size()) throw nb::index_error("no such device");
  return run.result.devices[device];
}

std::string run_document(const Run& run, std::size_t top) {
  return run_json(run.result, {run.source.text->name, top});
}

std::string run_summary(const Run& run, std::size_t top, std::size_t width) {
  return run_text(run.result, {run.source.text->name, top}, {width, false});
}

std::string run_diagnosis(const Run& run, std::size_t width) {
  const Diagnosis found = diagnose(run.source, run.result);
  return width == 0 ? diagnosis_json(found) : diagnosis_text(found, {width, false});
}

nb::bytes run_snapshot(const Run& run) {
  std::string pickled;
  {
    const nb::gil_scoped_release unlocked;
    std::vector<EventView> views;
    views.reserve(run.result.devices.size());
    for (const DeviceResult& device : run.result.devices)
      views.push_back(view_of(device, run.result.program));
    pickled = snapshot_of(views, run.result.devices.front().settings);
  }
  return nb::bytes(pickled.data(), pickled.size());
}

std::string events_csv(const Run& run, std::size_t device) {
  return run_events_csv(device_of(run, device), run.result.program);
}

std::vector<std::pair<std::string, std::int64_t>> statistics(const Run& run, std::size_t device) {
  const DeviceResult& result = device_of(run, device);
  return flatten(result.statistics, result.settings.version);
}

std::vector<std::string> label_texts(const Run& run) {
  const Labels& labels = run.result.program.labels;
  std::vector<std::string> texts;
  texts.reserve(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i)
    texts.emplace_back(labels.text(static_cast<LabelId>(i)));
  return texts;
}

nb::dict run_columns(nb::handle_t<Run> self, std::size_t device) {
  const DeviceResult& result = device_of(nb::cast<const Run&>(self), device);
  const bool is_timed = result.times_ns.size() == result.events.size();
  return columns_of(
      {&result.events, &result.samples, &result.labels, is_timed ? &result.times_ns : nullptr},
      self);
}

nb::dict run_host_columns(nb::handle_t<Run> self) {
  return host_columns_of(nb::cast<const Run&>(self).result.host.samples, self);
}

nb::dict run_categories(const Run& run, std::size_t device) {
  const DeviceResult& result = device_of(run, device);
  return category_columns(result.events, result.samples, run.result.program.categories);
}

}  // namespace

void bind_runs(nb::module_& module) {
  nb::list actions;
  for (const std::string_view name : kActionNames)
    actions.append(nb::str(name.data(), name.size()));
  module.attr("action_names") = nb::tuple(actions);

  module.def("human_bytes", &human_bytes, nb::arg("bytes"));

  nb::class_<ScenarioSource>(module, "Source")
      .def_prop_ro("name", [](const ScenarioSource& source) { return source.text->name; })
      .def_prop_ro("text", [](const ScenarioSource& source) { return source.text->text; });
  module.def("open_source", &open_source, nb::arg("path"), nb::arg("settings"), nb::arg("variant"));
  module.def("source_of_text", &source_of_text, nb::arg("text"), nb::arg("name"), nb::arg("folder"),
             nb::arg("settings"), nb::arg("variant"));
  module.def("check", &check, nb::arg("source"), Unlocked());

  nb::class_<Run>(module, "Run")
      .def_ro("warnings", &Run::warnings)
      .def_prop_ro("device_count", [](const Run& run) { return run.result.devices.size(); })
      .def("document", &run_document, nb::arg("top"), Unlocked())
      .def("summary", &run_summary, nb::arg("top"), nb::arg("width"), Unlocked())
      .def("diagnosis", &run_diagnosis, nb::arg("width"), Unlocked())
      .def("snapshot", &run_snapshot)
      .def("events_csv", &events_csv, nb::arg("device"), Unlocked())
      .def("statistics", &statistics, nb::arg("device"))
      .def("labels", &label_texts)
      .def("columns", &run_columns, nb::arg("device"))
      .def("host_columns", &run_host_columns)
      .def("categories", &run_categories, nb::arg("device"));
  module.def("run", &make_run, nb::arg("source"), nb::arg("keep_events"), nb::arg("every_step"),
             Unlocked());
}

}  // namespace tidemark::python
