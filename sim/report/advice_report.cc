#include "sim/report/advice_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/device/published_band.h"
#include "sim/format/json_writer.h"
#include "sim/report/assumptions_report.h"
#include "sim/report/duration.h"
#include "sim/report/run_report.h"
#include "sim/report/time_text.h"

namespace tidemark {

namespace {

using Align = Table::Align;

std::string_view price_name(Price price) { return kPriceNames[static_cast<std::size_t>(price)]; }

std::string signed_bytes(std::int64_t bytes) {
  return bytes < 0 ? "-" + human_bytes(static_cast<Bytes>(-bytes))
                   : human_bytes(static_cast<Bytes>(bytes));
}

/// "+1.20 ms, +3 %" of the time before.
std::string time_cost(const Advice& advice, const AdvisedChange& change) {
  const Nanoseconds cost = change.time_cost_ns;
  const Nanoseconds size = cost < 0 ? -cost : cost;
  const Nanoseconds before = std::max<Nanoseconds>(1, advice.before.end_ns);
  const auto percents =
      (static_cast<Wide>(size) * 100U + static_cast<Wide>(before) / 2) / static_cast<Wide>(before);
  const char sign = cost < 0 ? '-' : '+';
  return fmt::format("{0}{1}, {0}{2} %", sign, duration_text(size),
                     static_cast<std::uint64_t>(percents));
}

class Writer {
 public:
  Writer(const Advice& advice, const AdviceReportOptions& options, const TextStyle& style)
      : advice_(advice), options_(options), style_(style) {}

  std::string text() {
    head();
    std::size_t number = 0;
    const bool fits = advice_.before.meets;
    changes(fits ? "What saves memory, each simulated; by price, then by what it saves"
                 : "What makes it fit, each simulated, the cheapest first",
            advice_.meeting, number);
    changes("What saves memory, but not enough", advice_.saving, number);
    useless();
    out_ += fmt::format("\n{}", wrapped("Times are simulated, of all that the scenario does: " +
                                            band_text(published_band()),
                                        style_.width, 0));
    if (!advice_.not_for.empty()) {
      std::string names;
      for (const Remedy* remedy : advice_.not_for)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", remedy->id);
      out_ += "\nNot for this scenario, or there already:\n" + wrapped(names, style_.width, 2);
    }
    last_words();
    return fitted(out_, style_.width);
  }

 private:
  void head() {
    out_ += fmt::format("{}\n{}, {}", bold(options_.title, style_), advice_.device,
                        human_bytes(advice_.total));
    if (advice_.headroom > 0)
      out_ += fmt::format(", of which {} are to stay free", human_bytes(advice_.headroom));
    const Standing& now = advice_.before;
    if (now.meets) {
      out_ += fmt::format("\n{} Peak reserved {}; {} stay free.\n", good("FITS.", style_),
                          exact_bytes(now.peak_reserved), human_bytes(now.spare));
      warn_of_little(now);
    } else {
      out_ += fmt::format("\n{} With room for all it reserves {} beside the CUDA context's {}.\n",
                          bad("DOES NOT FIT.", style_), exact_bytes(now.need),
                          human_bytes(advice_.context));
    }
    if (!options_.over.empty()) {
      out_ += advice_.reaches
                  ? fmt::format("As it stands {} goes up to {}.\n", options_.over, *advice_.reaches)
                  : fmt::format("As it stands no {} fits.\n", options_.over);
    }
  }

  /// What is left of so little another process, or the driver's next release, may take.
  void warn_of_little(const Standing& standing) {
    constexpr Bytes kShare = 20;  // a twentieth
    if (!standing.meets || standing.spare * kShare >= advice_.total) return;
    out_ += fmt::format("  {} {} of the device stay free, less than 5 %\n", bad("warning:", style_),
                        percent(parts_per_million(standing.spare, advice_.total)));
  }

  void changes(std::string_view title, const std::vector<AdvisedChange>& changes,
               std::size_t& number) {
    if (changes.empty()) return;
    const bool has_reach = !options_.over.empty() && &changes == &advice_.meeting;
    out_ += fmt::format("\n{}\n", title);
    std::vector<Align> columns{Align::kRight, Align::kLeft,  Align::kRight,
                               Align::kRight, Align::kRight, Align::kRight};
    std::vector<std::string> names{"#", "price", "peak reserved", "stays free", "saves", "time"};
    if (has_reach) {
      columns.push_back(Align::kRight);
      names.push_back(options_.over + " up to");
    }
    columns.push_back(Align::kLeft);
    names.emplace_back("change");
    Table table(std::move(columns), 2);
    table.add(std::move(names));
    for (const AdvisedChange& change : changes) {
      const Standing& after = change.standing;
      std::vector<std::string> row{std::to_string(++number),
                                   std::string(price_name(change.price)),
                                   human_bytes(after.meets ? after.peak_reserved : after.need),
                                   after.meets ? human_bytes(after.spare) : "-",
                                   signed_bytes(change.saved_bytes),
                                   time_cost(advice_, change)};
      if (has_reach) row.push_back(change.reaches ? std::to_string(*change.reaches) : "-");
      row.push_back(change.change.text);
      table.add(std::move(row));
    }
    out_ += table.text(style_.width);
  }

  void useless() {
    if (advice_.useless.empty()) return;
    out_ += "\nWhat does not help\n";
    Table table({Align::kLeft, Align::kLeft}, 2);
    for (const AdvisedChange& change : advice_.useless) {
      std::string reason = "changes nothing";
      if (!change.standing.error.empty()) {
        reason = "cannot be run: " + change.standing.error;
      } else if (change.saved_bytes < 0) {
        reason =
            fmt::format("costs {} of memory", human_bytes(static_cast<Bytes>(-change.saved_bytes)));
      }
      table.add({change.change.text, std::move(reason)});
    }
    out_ += table.text(style_.width);
  }

  void estimate() {
    if (!advice_.gpus) return;
    const GpuEstimate& gpus = *advice_.gpus;
    const std::string each =
        fmt::format("{} of activations and the rest stay with each", human_bytes(gpus.rest));
    out_ += wrapped(
        gpus.gpus == 0
            ? fmt::format("Sharding it was not tried, and would not be enough: {}.", each)
            : fmt::format("Sharding it (fully_shard) was not tried, since the program's own text "
                          "does not show where. An estimate, not simulated: about {} GPUs, if {} "
                          "of parameters, gradients and optimizer state lay in equal parts on "
                          "them; {}.",
                          gpus.gpus, human_bytes(gpus.shared), each),
        style_.width, 2);
  }

  void last_words() {
    if (advice_.meeting.empty()) {
      out_ += advice_.before.meets ? "\nNothing known saves memory here.\n"
                                   : "\nNone of the known changes makes it fit.\n";
      estimate();
      return;
    }
    const AdvisedChange& first = advice_.meeting.front();
    out_ += fmt::format(
        "\n{} {}\n",
        bold(advice_.before.meets ? "Saves most for the least:" : "Cheapest that makes it fit:",
             style_),
        first.change.text);
    for (const Remedy* remedy : first.remedies) {
      if (!remedy->note.empty()) out_ += fmt::format("  note: {}\n", remedy->note);
    }
    warn_of_little(first.standing);
    if (!first.change.files.empty() && options_.is_script) {
      const std::string outside = outside_text(first.change);
      if (!outside.empty()) out_ += fmt::format("  outside the script: {}\n", outside);
      out_ += "  --diff prints it as a patch, --write FILE.py writes the script with it, --pick N ";
      out_ += "another of the table\n";
      return;
    }
    const std::string set = change_options(first.change);
    const bool is_short = set.find('\\') == std::string::npos;
    if (!set.empty() && is_short) out_ += fmt::format("  tidemark run SCENARIO {}\n", set);
    out_ += "  --diff prints it as a patch, --write FILE writes the scenario with it, --pick N ";
    out_ += "another of the table\n";
  }

  const Advice& advice_;
  const AdviceReportOptions& options_;
  const TextStyle& style_;
  std::string out_;
};

void write_number(JsonWriter& json, const std::optional<std::int64_t>& number) {
  if (number) {
    json.value(*number);
  } else {
    json.null();
  }
}

void write_standing(const Standing& standing, JsonWriter& json) {
  json.member("error", standing.error);
  json.member("fits", standing.meets);
  json.member("need_bytes", standing.need);
  json.member("peak_reserved_bytes", standing.peak_reserved);
  json.member("spare_bytes", standing.spare);
  json.member("retries", standing.retries);
  json.member("end_ns", std::int64_t{standing.end_ns});
  write_time_band(json, published_band());
}

void write_changes(std::string_view key, const std::vector<AdvisedChange>& changes,
                   JsonWriter& json) {
  json.key(key).begin_array();
  for (const AdvisedChange& change : changes) {
    json.begin_object();
    json.key("remedies").begin_array(true);
    for (const Remedy* remedy : change.remedies) json.value(remedy->id);
    json.end_array();
    json.member("price", price_name(change.price));
    json.member("change", change.change.text);
    json.key("overrides").begin_object();
    for (const Override& one : change.change.overrides) json.member(one.path, one.value);
    json.end_object();
    json.key("edited_files").begin_array();
    for (const auto& [path, text] : change.change.files) json.value(path);
    json.end_array();
    write_standing(change.standing, json);
    json.member("saved_bytes", change.saved_bytes);
    json.member("time_cost_ns", std::int64_t{change.time_cost_ns});
    write_number(json.key("reaches"), change.reaches);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string advice_text(const Advice& advice, const AdviceReportOptions& options,
                        const TextStyle& style) {
  const std::string basis = assumptions_text(advice.basis, style);
  return Writer(advice, options, style).text() + (basis.empty() ? "" : "\n" + basis);
}

std::string advice_json(const Advice& advice, const AdviceReportOptions& options) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().member("schema_version", kReportSchemaVersion).member("kind", "advice");
  json.member("title", options.title);
  json.member("device", advice.device);
  json.member("total_bytes", advice.total);
  json.member("context_bytes", advice.context);
  json.member("headroom_bytes", advice.headroom);
  json.member("over", options.over);
  json.key("before").begin_object();
  write_standing(advice.before, json);
  write_number(json.key("reaches"), advice.reaches);
  json.end_object();
  write_changes("meeting", advice.meeting, json);
  write_changes("saving", advice.saving, json);
  write_changes("useless", advice.useless, json);
  json.key("not_for").begin_array();
  for (const Remedy* remedy : advice.not_for) json.value(remedy->id);
  json.end_array();
  if (advice.gpus) {
    json.key("estimated_gpus").begin_object(true).member("gpus", advice.gpus->gpus);
    json.member("shared_bytes", advice.gpus->shared).member("rest_bytes", advice.gpus->rest);
    json.end_object();
  }
  write_assumptions(advice.basis, json);
  json.end_object().finish();
  return text;
}

const AdvisedChange* numbered_change(const Advice& advice, std::size_t number) {
  for (const std::vector<AdvisedChange>* changes : {&advice.meeting, &advice.saving}) {
    if (number >= 1 && number <= changes->size()) return &(*changes)[number - 1];
    number -= std::min(number, changes->size());
  }
  return nullptr;
}

std::string applied_comment(const Advice& advice, const AdvisedChange& change) {
  const Standing& after = change.standing;
  std::string text = fmt::format(
      "# tidemark advise: {}; needs {} bytes where it was {}, saves {} ({}); simulated time {}",
      change.change.text, after.need, advice.before.need, signed_bytes(change.saved_bytes),
      change.saved_bytes, time_cost(advice, change));
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text + "\n";
}

}  // namespace tidemark
