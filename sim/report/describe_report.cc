#include "sim/report/describe_report.h"

#include <fmt/format.h>

#include "sim/format/events_csv.h"
#include "sim/format/json_writer.h"
#include "sim/report/run_report.h"

namespace tidemark {

namespace {

using Align = Table::Align;

std::string_view trainable_word(const torch::WatchedModule& module) {
  if (module.parameters == 0) return "-";
  if (module.trainable_parameters == 0) return "no";
  return module.trainable_parameters == module.parameters ? "yes" : "partly";
}

std::string amount(Bytes bytes) { return bytes == 0 ? "-" : human_bytes(bytes); }

/// The last part of a path: what the parent calls the module.
std::string own_name(const torch::WatchedModule& module) {
  if (module.depth == 0) return module.type;
  return fmt::format("{:{}}{} ({})", "", 2 * module.depth,
                     module.path.substr(module.path.rfind('.') + 1), module.type);
}

std::string totals(const ModelDescription& model, const TextStyle& style) {
  const Layer& whole = model.layers.front();
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  const auto add = [&](std::string name, std::string count, Bytes bytes) {
    table.add({std::move(name), std::move(count), amount(bytes), grouped(bytes)});
  };
  const std::uint64_t fixed = whole.module.parameters - whole.module.trainable_parameters;
  table.add({"", "", "", "bytes"});
  add("Parameters", grouped(whole.module.parameters), whole.module.parameter_bytes);
  table.add({"  trainable", grouped(whole.module.trainable_parameters), ""});
  table.add({"  not trainable", grouped(fixed), ""});
  add("Buffers", "", whole.module.buffer_bytes);
  if (model.is_called) {
    add("Saved for backward", "", whole.saved_bytes);
    add("Temporaries, at most", "", whole.temporaries_peak_bytes);
    add("Workspace", "", whole.workspace_bytes);
  }
  return table.text(style.width);
}

}  // namespace

std::string describe_text(const std::vector<ModelDescription>& models, std::uint32_t depth,
                          const TextStyle& style) {
  std::string out;
  for (const ModelDescription& model : models) {
    if (!out.empty()) out += "\n";
    std::vector<Align> columns{Align::kLeft, Align::kLeft, Align::kRight, Align::kLeft};
    std::vector<std::string> head{"Layer", "output", "parameters", "trainable"};
    if (model.is_called) {
      columns.insert(columns.end(), 3, Align::kRight);
      head.insert(head.end(), {"saved", "temporaries", "workspace"});
    }
    Table table(columns);
    table.add(head);
    std::size_t hidden = 0;
    for (const Layer& layer : model.layers) {
      if (layer.module.depth > depth) {
        ++hidden;
        continue;
      }
      std::vector<std::string> row{
          own_name(layer.module), layer.module.output.empty() ? "-" : layer.module.output,
          layer.module.parameters == 0 ? "-" : grouped(layer.module.parameters),
          std::string(trainable_word(layer.module))};
      if (model.is_called) {
        row.insert(row.end(), {amount(layer.saved_bytes), amount(layer.temporaries_peak_bytes),
                               amount(layer.workspace_bytes)});
      }
      table.add(std::move(row));
    }
    out += table.text(style.width);
    if (hidden > 0) out += fmt::format("{} modules lie deeper: --depth shows them\n", hidden);
    out += "\n" + totals(model, style);
  }
  return out;
}

std::string describe_json(const std::vector<ModelDescription>& models) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("schema_version", kReportSchemaVersion).member("kind", "describe");
  json.key("models").begin_array();
  for (const ModelDescription& model : models) {
    json.begin_object().member("is_called", model.is_called).key("layers").begin_array();
    for (const Layer& layer : model.layers) {
      const torch::WatchedModule& module = layer.module;
      json.begin_object(true).member("path", module.path).member("type", module.type);
      json.member("depth", module.depth).member("output", module.output);
      json.member("parameters", module.parameters);
      json.member("trainable_parameters", module.trainable_parameters);
      json.member("parameter_bytes", module.parameter_bytes);
      json.member("buffer_bytes", module.buffer_bytes).member("saved_bytes", layer.saved_bytes);
      json.member("temporaries_peak_bytes", layer.temporaries_peak_bytes);
      json.member("workspace_bytes", layer.workspace_bytes).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object().finish();
  return out;
}

std::string describe_csv(const std::vector<ModelDescription>& models) {
  std::string out =
      "model,path,type,depth,output,parameters,trainable_parameters,parameter_bytes,buffer_bytes,"
      "saved_bytes,temporaries_peak_bytes,workspace_bytes\n";
  for (std::size_t i = 0; i < models.size(); ++i) {
    for (const Layer& layer : models[i].layers) {
      const torch::WatchedModule& module = layer.module;
      out += fmt::format("{},", i);
      append_csv_field(module.path, out);
      out += ',';
      append_csv_field(module.type, out);
      out += fmt::format(",{},", module.depth);
      append_csv_field(module.output, out);
      out += fmt::format(",{},{},{},{},{},{},{}\n", module.parameters, module.trainable_parameters,
                         module.parameter_bytes, module.buffer_bytes, layer.saved_bytes,
                         layer.temporaries_peak_bytes, layer.workspace_bytes);
    }
  }
  return out;
}

}  // namespace tidemark
