#include "sim/report/torch_job.h"

#include <fmt/format.h>

#include "sim/format/json_writer.h"
#include "sim/report/run_report.h"

namespace tidemark {

namespace {

/// The text with its lines where its file has them, so that places in messages agree.
void write_text(JsonWriter& json, const SourceText& source) {
  std::string text;
  if (source.first_line > 1) text.assign(source.first_line - 1, '\n');
  text += source.text;
  json.begin_object().member("name", source.name).member("text", text).end_object();
}

void write_backends(JsonWriter& json, const ops::Backends& backends) {
  json.key("backends").begin_object(true);
  json.member("cudnn", backends.cudnn).member("benchmark", backends.cudnn_benchmark);
  json.member("deterministic", backends.deterministic).member("tf32", backends.tf32);
  json.member("cudnn_tf32", backends.cudnn_tf32);
  json.member("fp16_accumulation", backends.fp16_accumulation);
  json.member("cudnn_sdp", backends.cudnn_sdp).member("flash", backends.flash_sdp);
  json.member("efficient", backends.mem_efficient_sdp).member("math", backends.math_sdp);
  json.end_object();
}

}  // namespace

std::string torch_job_json(const Scenario& scenario, const std::string& name,
                           const std::string& command, const std::string& stacks) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().member("schema_version", kReportSchemaVersion).member("kind", "job");
  json.member("name", name).member("command", command).member("stacks", stacks);
  json.member("is_script", scenario.is_script);
  json.member("alloc_conf", scenario.settings.text);
  json.key("arguments").begin_array();
  for (const std::string& argument : scenario.script_args) json.value(argument);
  json.end_array().key("environment").begin_object();
  for (const auto& [name_of, value] : scenario.script_env) json.member(name_of, value);
  json.end_object();
  json.key("memory_fraction");
  if (scenario.memory_fraction) {
    json.value(fmt::format("{}", *scenario.memory_fraction));
  } else {
    json.null();
  }
  write_backends(json, scenario.backends);
  json.key("import_folders").begin_array();
  for (const std::string& folder : scenario.model.import_folders) json.value(folder);
  json.end_array().key("texts").begin_array();
  if (!scenario.is_script) {
    for (const Parameter& parameter : scenario.params) {
      write_text(json, {"params." + parameter.name,
                        fmt::format("{} = {}", parameter.name, parameter.value), 1, 0});
    }
  }
  if (scenario.model.source) write_text(json, *scenario.model.source);
  if (scenario.model.setup) write_text(json, *scenario.model.setup);
  if (scenario.loop) write_text(json, *scenario.loop);
  json.end_array().end_object();
  json.finish();
  return out;
}

}  // namespace tidemark
