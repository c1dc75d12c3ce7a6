#include "sim/report/oom_report.h"

#include <fmt/format.h>

#include <string_view>

#include "sim/report/explain_report.h"
#include "sim/report/run_report.h"

namespace tidemark {

namespace {

std::string_view class_text(OomClass why) {
  switch (why) {
    case OomClass::kTooMuchLive:
      return "too much is alive: no allocator setting can help";
    case OomClass::kFragmentation:
      return "fragmentation: enough is free, but not in one piece";
    case OomClass::kRounding:
      break;
  }
  return "rounding: blocks larger than their requests take what is missing";
}

std::string_view class_name(OomClass why) {
  return why == OomClass::kTooMuchLive     ? "too_much_live"
         : why == OomClass::kFragmentation ? "fragmentation"
                                           : "rounding";
}

std::string request_text(const RequestRemedies& request, const MemoryPicture& picture,
                         const TextStyle& style) {
  std::string out = fmt::format(
      "  This request would have been served by any of these, re-simulated; {}:\n",
      picture.oom->recording_ends ? "the recording ends here"
                                  : "what the program asks for after it would not be the same");
  out += fmt::format("    another setting: {}\n",
                     request.helps ? setting_name(*request.helps)
                                   : fmt::format("none of the {} tried", request.settings_tried));
  out += request.release
             ? cut(fmt::format("    freed before it: {} in {} {}, made by {}",
                               human_bytes(request.release->bytes), request.release->blocks,
                               request.release->blocks == 1 ? "block" : "blocks",
                               maker_of(request.release->maker)),
                   style.width) +
                   "\n"
             : std::string("    freed before it: no single call site's blocks\n");
  out += fmt::format("    a smaller request: at most {}, in whole MiB\n",
                     exact_bytes(picture.largest_fitting_bytes));
  out += fmt::format("    more device memory: {}\n", exact_bytes(request.more_bytes));
  return out;
}

std::string end_text(const ProgramEnd& end, const TextStyle& style) {
  const ProgramEnd::Played* helps = end.helps();
  std::string out = "  What lets the program run to its end, each played to its end:\n";
  out += fmt::format("    another setting: {}\n",
                     helps != nullptr ? fmt::format("{}; it reserves {} at most then",
                                                    setting_name(helps->setting),
                                                    human_bytes(helps->peak_reserved))
                                      : fmt::format("none of the {} tried", end.settings.size()));
  out += fmt::format("    a larger device: {}\n", end.need.reserved_bytes
                                                      ? exact_bytes(end.need.total_bytes)
                                                      : std::string("not one of 4 TiB"));
  return out + "    changes of the program: tidemark advise tries them\n" +
         wrapped(need_text(end.need), style.width, 2);
}

void write_setting(const std::optional<std::string>& helps, JsonWriter& json) {
  json.key("setting_that_helps");
  helps ? json.value(*helps) : json.null();
}

void write_request(const Explanation& explanation, JsonWriter& json) {
  json.key("served_by");
  if (!explanation.request) {
    json.null();
    return;
  }
  const RequestRemedies& request = *explanation.request;
  json.begin_object().member("settings_tried", std::uint64_t{request.settings_tried});
  write_setting(request.helps, json);
  json.key("release_that_helps");
  if (request.release) {
    json.begin_object(true).member("made_by", request.release->maker);
    json.member("bytes", request.release->bytes)
        .member("blocks", std::uint64_t{request.release->blocks})
        .end_object();
  } else {
    json.null();
  }
  json.member("smaller_request_bytes", explanation.picture.largest_fitting_bytes);
  json.member("more_bytes", request.more_bytes).end_object();
}

void write_end(const Explanation& explanation, JsonWriter& json) {
  json.key("to_its_end");
  if (!explanation.end) {
    json.null();
    return;
  }
  const ProgramEnd& end = *explanation.end;
  const ProgramEnd::Played* helps = end.helps();
  json.begin_object().member("settings_tried", std::uint64_t{end.settings.size()});
  write_setting(helps == nullptr ? std::nullopt : std::optional(helps->setting), json);
  json.key("need");
  write_need(end.need, json);
  json.end_object();
}

}  // namespace

std::string need_text(const Need& need) {
  if (!need.reserved_bytes) return "To its end the program needs more than 4 TiB.";
  return fmt::format(
      "To its end the program needs a device of {} under this setting; {} less are not enough. "
      "With room for all it reserves {}. (It was played to its end {} times.)",
      human_bytes(need.total_bytes), human_bytes(need.step_bytes),
      human_bytes(*need.reserved_bytes), need.plays);
}

void write_need(const Need& need, JsonWriter& json) {
  json.begin_object(true).key("reserved_bytes");
  need.reserved_bytes ? json.value(std::uint64_t{*need.reserved_bytes}) : json.null();
  json.member("device_bytes", need.total_bytes)
      .member("step_bytes", need.step_bytes)
      .member("plays", std::uint64_t{need.plays})
      .end_object();
}

std::string oom_text(const Explanation& explanation, const TextStyle& style) {
  const OomAnswer& oom = *explanation.picture.oom;
  std::string out = fmt::format("{} at event {}: a request of {}\n", bad("Out of memory", style),
                                oom.event, exact_bytes(oom.rounded_bytes));
  out += fmt::format("  {}\n", class_text(oom.why));
  out += fmt::format(
      "  Proof: live {} + request {} {} device {}; free in the cache {}, largest piece {}\n",
      human_bytes(oom.live_bytes), human_bytes(oom.rounded_bytes),
      oom.live_bytes + oom.rounded_bytes > oom.capacity_bytes ? ">" : "<=",
      human_bytes(oom.capacity_bytes), human_bytes(oom.cached_free_bytes),
      human_bytes(oom.largest_free_bytes));
  if (explanation.end) out += end_text(*explanation.end, style);
  if (explanation.request) out += request_text(*explanation.request, explanation.picture, style);
  return out;
}

void write_oom(const Explanation& explanation, JsonWriter& json) {
  json.key("oom");
  if (!explanation.picture.oom) {
    json.null();
    return;
  }
  const OomAnswer& oom = *explanation.picture.oom;
  json.begin_object()
      .member("class", class_name(oom.why))
      .member("rounded_bytes", oom.rounded_bytes);
  json.member("capacity_bytes", oom.capacity_bytes).member("live_bytes", oom.live_bytes);
  json.member("cached_free_bytes", oom.cached_free_bytes)
      .member("largest_free_bytes", oom.largest_free_bytes);
  json.member("recording_ends", oom.recording_ends);
  write_request(explanation, json);
  write_end(explanation, json);
  json.end_object();
}

}  // namespace tidemark
