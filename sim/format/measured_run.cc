#include "sim/format/measured_run.h"

#include <fmt/format.h>

#include <filesystem>

#include "sim/base/problem.h"
#include "sim/format/json_reader.h"
#include "sim/format/whole_file.h"

namespace tidemark {

namespace {

using Kind = JsonValue::Kind;

/// The members of one object, each asked for with the kind that it must have.
class Members {
 public:
  Members(const JsonValue& object, std::string path) : object_(object), path_(std::move(path)) {
    if (object.kind != Kind::kObject) fail(object, path_, "expected an object");
  }

  [[nodiscard]] const JsonValue& at(std::string_view key, Kind kind, std::string_view what) const {
    const JsonValue* value = object_.find(key);
    const std::string path = path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
    if (value == nullptr) fail(object_, path, "is missing");
    if (value->kind != kind) fail(*value, path, fmt::format("expected {}", what));
    return *value;
  }
  [[nodiscard]] const std::string& text(std::string_view key) const {
    return at(key, Kind::kText, "text").text;
  }
  [[nodiscard]] bool claim(std::string_view key) const {
    return at(key, Kind::kBoolean, "true or false").boolean;
  }
  [[nodiscard]] Bytes bytes(std::string_view key) const {
    const JsonValue& value = at(key, Kind::kInteger, "a whole number");
    if (value.integer < 0) fail(value, std::string(key), "expected a whole number");
    return static_cast<Bytes>(value.integer);
  }

  [[nodiscard]] std::optional<Bytes> bytes_or_null(std::string_view key) const {
    const JsonValue* value = object_.find(key);
    if (value != nullptr && value->kind == Kind::kNull) return std::nullopt;
    return bytes(key);
  }

 private:
  [[noreturn]] static void fail(const JsonValue& value, std::string path, std::string message) {
    throw InputError(Problem{value.at, std::move(path), std::move(message), {}});
  }
  const JsonValue& object_;
  std::string path_;
};

}  // namespace

MeasuredRun read_measured_run(const std::string& folder, const std::string& name) {
  const std::string path = fmt::format("{}/{}.json", folder, name);
  const JsonValue document = read_json(read_whole_file(path), path);
  const Members all(document, {});
  if (all.text("kind") != "measured") {
    throw InputError(Problem{document.at, "kind", "is not that of a measured run", {}});
  }
  MeasuredRun run;
  run.name = all.text("name");
  run.ended_by_oom = all.claim("ended_by_oom");
  run.oom_message = all.text("oom_message");
  const Members origin(all.at("provenance", Kind::kObject, "an object"), "provenance");
  run.provenance = {origin.text("device"),   origin.text("compute_capability"),
                    origin.claim("pretend"), origin.text("driver"),
                    origin.text("torch"),    origin.text("cuda"),
                    origin.text("date"),     origin.text("command")};
  for (const JsonValue& item : all.at("devices", Kind::kArray, "a list").items) {
    const Members device(item, "devices");
    run.devices.push_back({device.bytes_or_null("peak_allocated_bytes"),
                           device.bytes("peak_reserved_bytes"),
                           device.bytes_or_null("device_total_bytes")});
  }
  const std::string plain = fmt::format("{}/{}.events.csv", folder, name);
  std::error_code error;
  const std::string events = std::filesystem::exists(plain, error) ? plain : plain + ".gz";
  run.events = read_events_csv(read_whole_file(events), events);
  return run;
}

}  // namespace tidemark
