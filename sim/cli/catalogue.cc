#include "sim/cli/catalogue.h"

#include <limits>

#include "sim/cli/scenario_input.h"

namespace tidemark::cli {

namespace {

class CatalogueCommand final : public Command {
 public:
  explicit CatalogueCommand(Catalogue catalogue) : catalogue_(std::move(catalogue)) {}

  [[nodiscard]] CommandSpec spec() const override {
    return {catalogue_.name,
            catalogue_.summary,
            catalogue_.about,
            {{"PART", catalogue_.part, false}},
            {{"format", kTableFormats, "how to print", "text"}},
            catalogue_.examples};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& /*err*/) const override {
    const TableFormat format = table_format(args.value("format"));
    const bool is_for_people = format != TableFormat::kCsv && format != TableFormat::kJson;
    const std::string part = args.positional().empty() ? std::string() : args.positional()[0];
    // What is piped on is searched by lines.
    const std::size_t width = out.is_terminal() ? static_cast<std::size_t>(out.width())
                                                : std::numeric_limits<std::size_t>::max();
    const TextStyle style{width, out.colour()};
    out.write(results_table(catalogue_.table(part, is_for_people), format, style));
    if (is_for_people && catalogue_.about_one != nullptr) out.write(catalogue_.about_one(part));
    return ExitCode::kDone;
  }

 private:
  Catalogue catalogue_;
};

}  // namespace

std::unique_ptr<Command> catalogue_command(Catalogue catalogue) {
  return std::make_unique<CatalogueCommand>(std::move(catalogue));
}

}  // namespace tidemark::cli
