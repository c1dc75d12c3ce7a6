#include "sim/cli/commands.h"
#include "sim/format/whole_file.h"
#include "sim/report/diff_report.h"

namespace tidemark::cli {

namespace {

constexpr std::size_t kContext = 4;

class DiffCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "diff",
        "compare two event traces: the first difference in context, then totals",
        "Compares action, bytes, address, stream and id of every event. Exit code 1 when they differ.",
        {{"A", "an event trace in CSV (run --events), plain or gzip; - for standard input"},
         {"B", "the other one"}},
        {{"unordered-frees", "", "compare frees that follow one another as a set", ""},
         {"ignore", "address|id", "leave a column out of the comparison", "", true},
         {"context", "N", "events shown around the first difference", "4"},
         {"format", "text|json|csv", "how to print", "text"}},
        {{"tidemark diff expected.csv.gz actual.csv", "is the run what it was?"},
         {"tidemark diff --ignore address a.csv b.csv", "same requests, wherever they went"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& /*err*/) const override {
    DiffOptions options;
    options.unordered_frees = args.has("unordered-frees");
    for (const std::string& column : args.values("ignore")) {
      (column == "id" ? options.compare_ids : options.compare_addresses) = false;
    }
    const std::size_t context = args.number("context", 0, 1000).value_or(kContext);
    const std::string& a_name = args.positional()[0];
    const std::string& b_name = args.positional()[1];
    const EventTable a = read_events_csv(read_whole_file(a_name), a_name);
    const EventTable b = read_events_csv(read_whole_file(b_name), b_name);
    const EventDiff diff = diff_events(a.events, b.events, options);
    const DiffSide a_side{a_name, &a};
    const DiffSide b_side{b_name, &b};
    const std::string& format = args.value("format");
    if (format == "json") {
      out.write(diff_json(diff, a_side, b_side, options));
    } else if (format == "csv") {
      out.write(diff_csv(diff));
    } else {
      const TextStyle style{static_cast<std::size_t>(out.width()), out.colour()};
      out.write(diff_text(diff, a_side, b_side, options, context, style));
    }
    return diff.equal() ? ExitCode::kDone : ExitCode::kDiffers;
  }
};

}  // namespace

std::unique_ptr<Command> make_diff_command() { return std::make_unique<DiffCommand>(); }

}  // namespace tidemark::cli
