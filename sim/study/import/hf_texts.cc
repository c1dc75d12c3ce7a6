#include "sim/study/import/hf_texts.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "sim/study/catalogue/describe.h"

namespace tidemark {

std::string indented(std::string_view text, std::size_t by) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) out.append(by, ' ').append(text.substr(begin, end - begin));
    out += '\n';
    begin = end + 1;
  }
  return out;
}

std::string real_literal(double value) {
  std::string text = fmt::format("{}", value);
  const std::size_t e = text.find('e');
  if (e != std::string::npos && text.find('.') == std::string::npos) text.insert(e, ".0");
  return text;
}

std::string model_key(const ModelText& model, const std::string& file) {
  std::string text = "model:\n";
  text +=
      file.empty() ? "  code: |\n" + indented(model.text, 4) : fmt::format("  file: {}\n", file);
  return text + fmt::format("  class: {}\n  args: {{{}}}\n", model.type, model.arguments);
}

std::uint64_t parameters_of(const ModelText& model, const std::string& name,
                            const std::vector<std::string>& packages) {
  const std::string text =
      fmt::format("schema_version: 1\ndevice: h100-sxm-80gb\n{}loop: torch._C.watch_model(model)\n",
                  model_key(model, ""));
  Scenario scenario =
      parse_scenario(std::make_shared<const SourceText>(SourceText{name + " (model)", text}), ".");
  scenario.packages = packages;
  const auto models = describe_models(scenario);
  return models.empty() ? 0 : models.front().layers.front().module.parameters;
}

}  // namespace tidemark
