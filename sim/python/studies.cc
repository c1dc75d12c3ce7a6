#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <memory>
#include <utility>

#include "sim/device/device.h"
#include "sim/python/bindings.h"
#include "sim/python/errors.h"
#include "sim/report/fit_report.h"
#include "sim/report/results_report.h"
#include "sim/study/advice/fit.h"
#include "sim/study/sweep/results.h"
#include "sim/study/sweep/sweep.h"

namespace tidemark::python {

namespace nb = nanobind;

namespace {

using Unlocked = nb::call_guard<nb::gil_scoped_release>;

struct Fit {
  FitOptions options;
  FitResult result;
};

FitOptions fit_options(std::string over, std::uint32_t headroom_ppm, std::int64_t highest,
                       std::int64_t window) {
  if (headroom_ppm >= 1'000'000) argument_error("headroom", "expected a share from 0 to below 1");
  if (highest < 1) argument_error("highest", "expected a number from 1");
  if (window < 0) argument_error("window", "expected a number from 0");
  return {std::move(over), headroom_ppm, highest, window};
}

Fit make_fit(const ScenarioSource& source, std::string over, std::uint32_t headroom_ppm,
             std::int64_t highest, std::int64_t window) {
  const FitOptions options = fit_options(std::move(over), headroom_ppm, highest, window);
  return {options, fit(source, options)};
}

/// One tuple a device: id, name, total bytes, fits, peak reserved, spare, error.
nb::list fit_all_devices(const ScenarioSource& source, std::uint32_t headroom_ppm) {
  std::vector<DeviceProbe> devices;
  {
    const nb::gil_scoped_release unlocked;
    devices = fit_devices(source, fit_options("device", headroom_ppm, 1, 0));
  }
  nb::list rows;
  for (const DeviceProbe& each : devices) {
    rows.append(nb::make_tuple(each.device, each.name, each.total_bytes, each.probe.fits,
                               each.probe.peak_reserved, each.probe.spare, each.probe.error));
  }
  return rows;
}

/// Asked to end, a sweep ends after the cells that are being run.
class Stopped : public std::runtime_error {
 public:
  Stopped() : std::runtime_error("the sweep was stopped") {}
};

/// The rows of a sweep, in a file or in memory.
struct Sweep {
  std::unique_ptr<ResultsFile> results;
  std::unique_ptr<std::atomic<bool>> stop = std::make_unique<std::atomic<bool>>(false);
  std::unique_ptr<std::atomic<std::uint64_t>> done =
      std::make_unique<std::atomic<std::uint64_t>>(0);
  ScenarioSource source;
  std::unique_ptr<SweepPlan> plan;
};

Sweep open_sweep(const ScenarioSource& source, const std::string& path, bool resume) {
  Sweep sweep;
  sweep.source = source;
  sweep.plan = std::make_unique<SweepPlan>(parse_sweep(source));
  SweepOrigin origin;
  origin.program_version = TIDEMARK_VERSION;
  origin.scenario_path = source.text->name;
  origin.scenario_text = source.text->text;
  origin.variant = source.variant;
  for (const Override& each : source.overrides)
    origin.overrides.push_back(each.path + "=" + each.value);
  origin.columns = sweep.plan->columns();
  origin.cells = sweep_size(*sweep.plan).cells;
  const bool is_there = resume && ResultsFile::is_begun(path);
  sweep.results = std::make_unique<ResultsFile>(is_there ? ResultsFile::open(path, true)
                                                         : ResultsFile::create(path, origin));
  if (is_there) sweep.results->require_same(origin);
  return sweep;
}

Sweep open_results(const std::string& path) {
  Sweep sweep;
  sweep.results = std::make_unique<ResultsFile>(ResultsFile::open(path, false));
  return sweep;
}

/// Runs the cells that have no row yet. Any thread; progress is read from others.
void run_cells(Sweep& sweep, unsigned threads, std::uint64_t shard, std::uint64_t shards) {
  if (shard < 1 || shard > shards) argument_error("shard", "expected (part, parts), from 1");
  SweepOptions options;
  options.threads = threads;
  options.shard = shard;
  options.shards = shards;
  const std::vector<bool> kept = sweep.results->done();
  options.is_done = [&kept](std::uint64_t number) { return number < kept.size() && kept[number]; };
  options.take = [&sweep](const SweepCell& cell, const CellResult& result) {
    if (sweep.stop->load()) throw Stopped();
    sweep.results->add(cell, result);
    ++*sweep.done;
  };
  try {
    run_sweep(sweep.source, *sweep.plan, options);
  } catch (const Stopped&) {
    // What was run is kept.
  }
  sweep.results->flush();
}

nb::object value_of(const ResultsValue& value) {
  if (value.kind == ResultsValue::Kind::kInteger) return nb::int_(value.integer);
  if (value.kind == ResultsValue::Kind::kText) return nb::str(value.text.data(), value.text.size());
  return nb::none();
}

/// The rows of a query by columns: names, then one list each.
nb::tuple query(const Sweep& sweep, const std::string& where, std::vector<std::string> columns,
                std::vector<std::string> sort, std::vector<std::string> group,
                std::vector<std::string> pareto, std::vector<std::string> pivot,
                std::uint64_t limit) {
  const ResultsTable table =
      sweep.results->query({where, std::move(columns), std::move(sort), std::move(group),
                            std::move(pareto), std::move(pivot), limit});
  nb::list names;
  nb::list lists;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    names.append(table.columns[i].name);
    nb::list list;
    for (const std::vector<ResultsValue>& row : table.rows) list.append(value_of(row[i]));
    lists.append(list);
  }
  return nb::make_tuple(names, lists);
}

std::string sweep_text(const Sweep& sweep, std::uint64_t limit, std::size_t width) {
  const TextStyle style{width, false};
  ResultsQuery rows;
  rows.limit = limit;
  return sweep_summary(*sweep.results, style) + "\n" +
         results_table(sweep.results->query(rows), TableFormat::kText, style);
}

}  // namespace

void bind_studies(nb::module_& module) {
  nb::class_<Fit>(module, "Fit")
      .def("document", [](const Fit& fit) { return fit_json(fit.result, fit.options); })
      .def(
          "summary",
          [](const Fit& fit, std::size_t width) {
            return fit_text(fit.result, fit.options, {width, false});
          },
          nb::arg("width"));
  module.def("fit", &make_fit, nb::arg("source"), nb::arg("over"), nb::arg("headroom_ppm"),
             nb::arg("highest"), nb::arg("window"), Unlocked());
  module.def("fit_devices", &fit_all_devices, nb::arg("source"), nb::arg("headroom_ppm"));

  nb::class_<Sweep>(module, "Sweep")
      .def("run", &run_cells, nb::arg("threads"), nb::arg("shard"), nb::arg("shards"), Unlocked())
      .def("stop", [](Sweep& sweep) { sweep.stop->store(true); })
      .def_prop_ro("done", [](const Sweep& sweep) { return sweep.done->load(); })
      .def_prop_ro("cells", [](const Sweep& sweep) { return sweep.results->origin().cells; })
      .def_prop_ro("axes", [](const Sweep& sweep) { return sweep.results->origin().columns; })
      .def("query", &query, nb::arg("where"), nb::arg("columns"), nb::arg("sort"), nb::arg("group"),
           nb::arg("pareto"), nb::arg("pivot"), nb::arg("limit"))
      .def("summary", &sweep_text, nb::arg("limit"), nb::arg("width"), Unlocked());
  module.def("open_sweep", &open_sweep, nb::arg("source"), nb::arg("path"), nb::arg("resume"));
  module.def("open_results", &open_results, nb::arg("path"));

  module.def("device_ids", [] {
    std::vector<std::string> ids;
    for (const std::string_view id : device_ids()) ids.emplace_back(id);
    return ids;
  });
}

}  // namespace tidemark::python
